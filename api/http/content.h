/* SPDX-License-Identifier: MIT
 *
 * What a body is, as its row says: looked at by its type when the head is there, and decoded when
 * all of it is.
 */
#ifndef API_HTTP_CONTENT_H
#define API_HTTP_CONTENT_H

#include "api/http/request.h"

#define ROUTE_DECODED (ROUTE_JSON | ROUTE_JSON_OPTIONAL | ROUTE_FORM | ROUTE_XML)

int content_check_type(const struct request *r, struct err *e) MUST_CHECK;
/* Out of request.raw into request.body, form or xml. 1: it takes more turns; to be called again. */
int content_decode(struct request *r, struct err *e) MUST_CHECK;

#endif
