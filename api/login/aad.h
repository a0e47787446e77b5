/* SPDX-License-Identifier: MIT
 *
 * Login: OpenID discovery and access tokens for the principals of the directory.
 */
#ifndef API_LOGIN_AAD_H
#define API_LOGIN_AAD_H

#include <assert.h>

#include "api/http/request.h"
#include "api/http/service.h"

struct access;
struct codes;

struct aad {
    const char *client_id, *client_secret; /* the id and the secret of the first principal */
    const struct access *access;           /* NULL: there are no other principals */
    struct codes *codes;
};

/* session_service: the cookie logins of the daemon's web page. */
extern const struct service aad_service, session_service;

static inline const struct aad *aad_of(const struct request *r)
{
    assert(service_deps_are(r->service, "aad"));
    return r->deps;
}

#endif
