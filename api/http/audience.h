/* SPDX-License-Identifier: MIT
 *
 * What a token is for. A client asks for a token for a resource, by a URL of ours or by the name
 * that the resource has in the public cloud, and each service takes only tokens for its own
 * resource (service.audiences). Port 443 is the same as none.
 */
#ifndef API_HTTP_AUDIENCE_H
#define API_HTTP_AUDIENCE_H

#include "api/http/request.h"

#define AUDIENCE_ACCOUNT_SIZE 64

struct token_audience {
    unsigned services;                   /* enum audience bits; 0: nothing of ours */
    char account[AUDIENCE_ACCOUNT_SIZE]; /* an account or vault alone, by its host; "": any */
};

/* Whether a token may be issued for this: a service here or by its name in the public cloud, or the
 * base that the request came to; *base: it is such a base, of the resource manager and the graph.
 */
bool audience_is_ours(struct request *r, const char *audience, bool *base);
/* What a token is for that was issued for this: by the token and the services of this daemon alone,
 * so that it is the same at each host. `base`: as above; what names no service is one, too. */
void audience_read(const struct api_config *c, const char *audience, bool base,
                   struct token_audience *out);

#endif
