/* SPDX-License-Identifier: MIT
 *
 * Checks who may add work that runs as administrator, if such work is root on the site's nodes
 * (batch.admin_is_root). A request that is signed with a key of the account may. The token of a
 * task may if the task itself runs as administrator.
 */
#ifndef API_PLANE_BATCH_RUN_AS_H
#define API_PLANE_BATCH_RUN_AS_H

#include <jansson.h>

#include "lib/err.h"

struct request;

/* Checks a task, or a job with its tasks. `doc`: the accepted body. `pool`: the pool whose user
 * accounts it names; NULL: the pool in its poolInfo. */
int batch_check_run_as(struct request *r, const json_t *doc, const char *pool,
                       struct err *e) MUST_CHECK;
/* Whether the sender has the rights of the first principal: 1 or 0; -1: error. A key of the account
 * has them if nobody else may list the keys; a task's token never has them. */
int batch_is_firsts(struct request *r, struct err *e) MUST_CHECK;
/* Fails with ERR_FORBIDDEN if nodes of this size are local nodes that serve only the first
 * principal, and the sender lacks his rights. The other functions check their pool in the same
 * way. */
int batch_check_local(struct request *r, const char *vm_size, struct err *e) MUST_CHECK;
/* Checks a job that is to run in this pool, because its tasks may name the pool's user accounts. */
int batch_check_run_in(struct request *r, const char *pool, struct err *e) MUST_CHECK;

#endif
