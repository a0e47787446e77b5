/* SPDX-License-Identifier: MIT
 *
 * What a token is for. A client asks for a token for a resource, by a URL of ours or by the name
 * that the resource has in the public cloud, and each service takes only tokens for its own
 * resource (service.audiences).
 */
#ifndef API_HTTP_AUDIENCE_H
#define API_HTTP_AUDIENCE_H

#include "api/http/request.h"

/* The enum audience bits of a URL; 0: nothing of ours, or NULL. */
unsigned audience_find(struct request *r, const char *audience);

#endif
