/* SPDX-License-Identifier: MIT
 *
 * Microsoft.Authorization: role definitions and role assignments, at any scope.
 */
#ifndef API_ARM_AUTHORIZATION_AUTHORIZATION_H
#define API_ARM_AUTHORIZATION_AUTHORIZATION_H

#include "api/http/request.h"

struct access;

struct authorization {
    const struct access *access;
};

extern const struct service authorization_service;

static inline const struct authorization *authorization_of(const struct request *r)
{
    return r->deps;
}

#endif
