/* SPDX-License-Identifier: MIT
 *
 * The machines of the site, for the people who run them: docs/admin-api.md.
 */
#ifndef API_ADMIN_ADMIN_H
#define API_ADMIN_ADMIN_H

#include "api/http/request.h"

struct sched;

struct admin {
    struct sched *sched;
};

extern const struct service admin_service;
struct error_words admin_words(int kind);

static inline const struct admin *admin_of(const struct request *r)
{
    return r->deps;
}

#endif
