/* SPDX-License-Identifier: MIT
 *
 * What bodies of pools ask for.
 */
#ifndef API_ARM_BATCH_POOLS_H
#define API_ARM_BATCH_POOLS_H

#include "api/arm/batch/account.h"
#include "api/plane/batch/pool_docs.h"
#include "model/schema.h"

struct rm_pool {
    struct batch_account account;
    struct batch_pool row;
};

/* A body: the members that it gives, in the data plane's words, and what is accepted of them
 * together with those that a pool must have. All of it is the request's. */
struct rm_pool_body {
    json_t *named, *tags; /* tags: as they are, or NULL */
    struct accepted plane;
    enum dealloc_option how; /* for nodes that leave */
};
/* What a pool's document, which is in the data plane's words, calls the tags of the management
 * plane. */
#define RM_POOL_TAGS "resourceManagerTags"
/* `stored`: the document of a pool that is changed in part; NULL: the body is all of it. */
int rm_pool_accept(struct request *r, const json_t *stored, struct rm_pool_body *out,
                   struct err *e) MUST_CHECK;
/* Makes of a pool what the body says; `whole`: what it does not say is taken away. */
int rm_pool_change(struct request *r, struct rm_pool *x, const struct rm_pool_body *b, bool whole,
                   struct err *e) MUST_CHECK;
/* Refuses references to packages that are not there. */
int rm_pool_check_packages(struct request *r, const struct batch_account *b,
                           const struct rm_pool_body *given, struct err *e) MUST_CHECK;
/* Refuses a formula that cannot be parsed. */
int rm_pool_check_formula(const struct batch_pool *p, struct err *e) MUST_CHECK;

#endif
