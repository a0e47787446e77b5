/* SPDX-License-Identifier: MIT
 *
 * Login: OpenID discovery and access tokens for the one service principal.
 */
#ifndef API_AAD_AAD_H
#define API_AAD_AAD_H

#include "api/http/request.h"

struct aad {
    const char *client_id, *client_secret;
};

extern const struct service aad_service;

static inline const struct aad *aad_of(const struct request *r)
{
    return r->deps;
}

#endif
