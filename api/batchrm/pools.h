/* SPDX-License-Identifier: MIT
 *
 * What bodies of pools ask for.
 */
#ifndef API_BATCHRM_POOLS_H
#define API_BATCHRM_POOLS_H

#include "api/batch/pool_docs.h"
#include "api/batchrm/account.h"
#include "model/schema.h"

struct rm_pool {
    struct batch_account account;
    struct batch_pool row;
};

/* A body: the members that it gives, in the data plane's words, and what is accepted of them
 * together with those that a pool must have. */
struct rm_pool_body {
    json_t *named;
    struct pool_body plane;
    enum dealloc_option how; /* for nodes that leave */
};
/* `stored`: the document of a pool that is changed in part; NULL: the body is all of it. */
int rm_pool_accept(struct request *r, const json_t *stored, struct rm_pool_body *out,
                   struct err *e) MUST_CHECK;
void rm_pool_body_free(struct rm_pool_body *b);
/* Makes of a pool what the body says; `whole`: what it does not say is taken away. */
int rm_pool_change(struct request *r, struct rm_pool *x, const struct rm_pool_body *b, bool whole,
                   struct err *e) MUST_CHECK;
/* Refuses references to packages that are not there. */
int rm_pool_check_packages(struct request *r, const struct batch_account *b,
                           const struct rm_pool_body *given, struct err *e) MUST_CHECK;
/* Refuses a formula that cannot be parsed. */
int rm_pool_check_formula(const struct batch_pool *p, struct err *e) MUST_CHECK;

#endif
