/* SPDX-License-Identifier: MIT
 *
 * Azure Resource Manager: subscriptions, resource groups, providers and asynchronous operations,
 * and the functions that it offers to the providers. The context struct of each provider begins
 * with a struct arm.
 */
#ifndef API_ARM_ARM_H
#define API_ARM_ARM_H

#include <assert.h>

#include "api/http/request.h"
#include "api/http/service.h"
#include "model/schema.h"

struct access;
struct batchai_front;
struct fleet;
struct lease_clock;
struct runs;
struct sched;
struct shares;

struct arm {
    struct storage *storage;
    struct sched *sched; /* decides about clusters; fleet, runs, shares: its parts */
    struct fleet *fleet;
    struct runs *runs;
    struct shares *shares;
    const struct lease_clock *leases; /* of shares and containers */
    struct batchai_front *front;      /* deletes what is in resource groups */
    const struct access *access;      /* roles and rights */
    const char *subscription_name;    /* of the configured subscription; access has its id */
    const char *provider;             /* the namespace of the provider */
    bool strict; /* behave exactly like the real service: Retry-After 15 on 202, none on InProgress;
                    HSTS */
};

extern const struct service arm_service;

static inline const struct arm *arm_of(const struct request *r)
{
    assert(service_deps_are(r->service, "arm"));
    return r->deps;
}

/* In a dump (request.dumps: a saved state), adds "secrets" to the last object in `out`: the secrets
 * of the row's document, each under the path of its property. `get` reads the secrets. */
void arm_show_secrets(struct request *r, struct strbuf *out, int64_t id,
                      int (*get)(struct storage *st, struct arena *a, int64_t id,
                                 const char **secrets, struct err *e));

/* Adds the headers that the replies of providers have. */
void arm_provider_headers(struct request *r);

#endif
