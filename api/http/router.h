/* SPDX-License-Identifier: MIT
 *
 * The dispatcher, which does the common work once: service, route, 404/405, who may, api-version,
 * JSON body, path parameters' form.
 */
#ifndef API_HTTP_ROUTER_H
#define API_HTTP_ROUTER_H

#include "api/http/request.h"

/* Finds service and route, and checks all that the request's head says. -1: the answer is the
 * error; with r->service set if one was found. */
int router_accept(struct request *r, struct err *e) MUST_CHECK;
/* The body is there: parses it and calls the handler. NULL: that takes more turns of the loop; to
 * be called again. */
REPLIED router_dispatch(struct request *r);

#endif
