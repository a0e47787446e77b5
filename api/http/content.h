/* SPDX-License-Identifier: MIT
 *
 * Checks a body's Content-Type by the route, after the head of the request; decodes the body when
 * it is complete.
 */
#ifndef API_HTTP_CONTENT_H
#define API_HTTP_CONTENT_H

#include "api/http/request.h"

#define ROUTE_DECODED                                                                              \
    (ROUTE_JSON | ROUTE_JSON_OPTIONAL | ROUTE_FORM | ROUTE_XML | ROUTE_XML_OPTIONAL)
#define ROUTE_KEPT (ROUTE_DECODED | ROUTE_BYTES)

int content_check_type(const struct request *r, struct err *e) MUST_CHECK;
/* Decodes request.raw into request.body, form or xml. 0: done; 1: call it again in the next turn of
 * the loop; -1: err. */
int content_decode(struct request *r, struct err *e) MUST_CHECK;

#endif
