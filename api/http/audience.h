/* SPDX-License-Identifier: MIT
 *
 * The audience of a token. A client asks for a token for a resource: a URL of this daemon, or the
 * resource's name in the public cloud. Each service takes only tokens for its own resource
 * (service.audiences). Port 443 means the same as no port.
 */
#ifndef API_HTTP_AUDIENCE_H
#define API_HTTP_AUDIENCE_H

#include "api/http/request.h"

#define AUDIENCE_ACCOUNT_SIZE 64

struct token_audience {
    unsigned services; /* enum audience bits; 0: no service of this daemon */
    /* the only account or vault for which the token is valid; "": any */
    char account[AUDIENCE_ACCOUNT_SIZE];
};

/* Whether a token may be issued for this audience: a service of this daemon, by its URL or its name
 * in the public cloud, or the base URL of the request. *base: a base URL, of ARM and the graph. */
bool audience_is_ours(struct request *r, const char *audience, bool *base);
/* Reads the audience of an issued token. Depends only on the token and the services of this daemon,
 * so the result is the same at each host. `base`: as above; then an unknown name counts as a base
 * URL. */
void audience_read(const struct api_config *c, const char *audience, bool base,
                   struct token_audience *out);

#endif
