/* SPDX-License-Identifier: MIT
 *
 * Azure Resource Manager: subscriptions, resource groups, providers, asynchronous operations; and
 * what it does for the providers behind it. The struct that a provider's handlers work with begins
 * with a struct arm.
 */
#ifndef API_ARM_ARM_H
#define API_ARM_ARM_H

#include "api/http/request.h"
#include "model/schema.h"

struct access;
struct batchai_front;
struct fleet;
struct runs;
struct sched;

struct arm {
    struct storage *storage;
    struct sched *sched; /* for decisions about clusters; other members give its parts: */
    struct fleet *fleet;
    struct runs *runs;
    struct batchai_front *front;   /* carries out deletions in the tree of groups */
    const struct access *access;   /* who may do what */
    const char *subscription_name; /* the configuration's; access has its id */
    const char *provider;          /* the namespace of the provider behind it */
    bool strict; /* do exactly as the service: Retry-After 15 on 202, none on InProgress; HSTS */
};

extern const struct service arm_service;

static inline const struct arm *arm_of(const struct request *r)
{
    return r->deps;
}

/* In a dump (request.dumps), adds "secrets" to the object that `out` ends with: what was moved out
 * of the row's document, by the paths of properties. `get` reads it. */
void arm_show_secrets(struct request *r, struct strbuf *out, int64_t id,
                      int (*get)(struct storage *st, struct arena *a, int64_t id,
                                 const char **secrets, struct err *e));

/* The headers that a provider's own answers carry. */
void arm_provider_headers(struct request *r);

#endif
