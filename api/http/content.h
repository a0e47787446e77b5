/* SPDX-License-Identifier: MIT
 *
 * The content of a body by its route: checks its type after the head, and decodes it when it is
 * complete.
 */
#ifndef API_HTTP_CONTENT_H
#define API_HTTP_CONTENT_H

#include "api/http/request.h"

#define ROUTE_DECODED                                                                              \
    (ROUTE_JSON | ROUTE_JSON_OPTIONAL | ROUTE_FORM | ROUTE_XML | ROUTE_XML_OPTIONAL)
#define ROUTE_KEPT (ROUTE_DECODED | ROUTE_BYTES)

int content_check_type(const struct request *r, struct err *e) MUST_CHECK;
/* Decodes request.raw into request.body, form or xml. 1: call it again in the next turn of the
 * loop. */
int content_decode(struct request *r, struct err *e) MUST_CHECK;

#endif
