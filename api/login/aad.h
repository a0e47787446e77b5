/* SPDX-License-Identifier: MIT
 *
 * Login: OpenID discovery and access tokens for the principals of the directory.
 */
#ifndef API_LOGIN_AAD_H
#define API_LOGIN_AAD_H

#include "api/http/request.h"

struct access;
struct codes;

struct aad {
    const char *client_id, *client_secret; /* of the first principal */
    const struct access *access;           /* NULL: there is no other */
    struct codes *codes;
};

/* session_service: logins by cookie, of the daemon's page. */
extern const struct service aad_service, session_service;

static inline const struct aad *aad_of(const struct request *r)
{
    return r->deps;
}

#endif
