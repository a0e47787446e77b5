/* SPDX-License-Identifier: MIT
 *
 * The common work for all requests: finds service and route (errors 404, 405), checks access,
 * api-version and Content-Type, decodes the body and calls the handler.
 */
#ifndef API_HTTP_ROUTER_H
#define API_HTTP_ROUTER_H

#include "api/http/request.h"

/* Finds service and route, and checks everything in the request's head. -1: reply with the error;
 * r->service is set if a service was found. */
int router_accept(struct request *r, struct err *e) MUST_CHECK;
/* Called when the body is complete. If the body was slow, checks access again, because the rights
 * or the token may have ended since the head. Does nothing for a stream, whose handler was already
 * called. */
int router_still_may(struct request *r, struct err *e) MUST_CHECK;
/* Called when the body is complete: decodes it and calls the handler. NULL: decoding needs more
 * turns of the loop; call it again. */
REPLIED router_dispatch(struct request *r);

#endif
