/* SPDX-License-Identifier: MIT
 *
 * The audience of a token: the resource for which a client requested the token. It is a URL of this
 * daemon, or the resource's name in the public cloud. Each service accepts only tokens for its own
 * resource (service.audiences). A URL with port 443 is the same as one without a port.
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

/* Whether a token may be issued for this audience: it must be a service of this daemon, by its URL
 * or its name in the public cloud, or the base URL of the request. *base: it is a base URL, which
 * stands for ARM and Microsoft Graph. */
bool audience_is_ours(struct request *r, const char *audience, bool *base);
/* Reads the audience of an issued token. The result depends only on the arguments and the services
 * of this daemon, so it is the same at each host. `base`: audience_is_ours() found a base URL when
 * the token was issued. A name that is unknown here counts as a base URL, too. */
void audience_read(const struct api_config *c, const char *audience, bool base,
                   struct token_audience *out);

#endif
