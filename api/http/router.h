/* SPDX-License-Identifier: MIT
 *
 * The dispatcher does the common work of all requests: service, route, 404/405, authentication,
 * api-version, JSON body, form of path parameters.
 */
#ifndef API_HTTP_ROUTER_H
#define API_HTTP_ROUTER_H

#include "api/http/request.h"

/* Finds service and route, and checks everything in the request's head. -1: answer with the error;
 * r->service is set if one was found. */
int router_accept(struct request *r, struct err *e) MUST_CHECK;
/* Called when the body is complete. Checks access again if the body came late, because the rights
 * or the token may have ended since the head. Not for a stream: its handler has been called
 * already. */
int router_still_may(struct request *r, struct err *e) MUST_CHECK;
/* Called when the body is complete: parses it and calls the handler. NULL: that takes more turns of
 * the loop; call it again. */
REPLIED router_dispatch(struct request *r);

#endif
