/* SPDX-License-Identifier: MIT
 *
 * Pools in the resource manager: their bodies, and changes by a body.
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

/* A body: the given members in the words of the data plane (`named`), and the accepted document
 * with these and the required members (`plane`). The request owns all memory. */
struct rm_pool_body {
    json_t *named, *tags; /* tags: as given, or NULL */
    struct accepted plane;
    enum dealloc_option how; /* for removed nodes */
};
/* The member with the management plane's tags in a pool's document. All other members have the data
 * plane's words. */
#define RM_POOL_TAGS "resourceManagerTags"
/* Reads and checks the request's body. `stored`: the document of the pool with its secrets, if the
 * body changes it partially; NULL: the body is complete. */
int rm_pool_accept(struct request *r, const json_t *stored, struct rm_pool_body *out,
                   struct err *e) MUST_CHECK;
/* Changes a pool to the body's settings. `whole` true: members that the body lacks are removed;
 * false: they stay. */
int rm_pool_change(struct request *r, struct rm_pool *x, const struct rm_pool_body *b, bool whole,
                   struct err *e) MUST_CHECK;
/* Fails if the pool's network is not in the account's subscription. */
int rm_pool_check_subnet(struct request *r, const struct batch_account *account, const json_t *doc,
                         struct err *e) MUST_CHECK;
/* Fails if the pool references a package that does not exist. */
int rm_pool_check_packages(struct request *r, const struct batch_account *b,
                           const struct rm_pool_body *given, struct err *e) MUST_CHECK;
/* Checks the mounts of the pool, and creates missing shares and containers (pool_mounts_take()). */
int rm_pool_take_mounts(struct request *r, const struct batch_account *account,
                        const struct accepted *b, const char *vm_size, struct err *e) MUST_CHECK;
/* Fails if the pool's formula cannot be parsed. */
int rm_pool_check_formula(const struct batch_pool *p, struct err *e) MUST_CHECK;

#endif
