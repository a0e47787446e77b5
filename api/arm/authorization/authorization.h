/* SPDX-License-Identifier: MIT
 *
 * Microsoft.Authorization: role definitions and role assignments, at any scope.
 */
#ifndef API_ARM_AUTHORIZATION_AUTHORIZATION_H
#define API_ARM_AUTHORIZATION_AUTHORIZATION_H

#include <assert.h>

#include "api/http/request.h"
#include "api/http/service.h"

struct access;

struct authorization {
    const struct access *access;
};

extern const struct service authorization_service;

static inline const struct authorization *authorization_of(const struct request *r)
{
    assert(service_deps_are(r->service, "authorization"));
    return r->deps;
}

#endif
