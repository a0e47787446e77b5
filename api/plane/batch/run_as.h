/* SPDX-License-Identifier: MIT
 *
 * Checks who may add work that runs as administrator of nodes, if the site makes such work root
 * (batch.admin_is_root). A key of the account may. The token of a task may if the task itself runs
 * as administrator.
 */
#ifndef API_PLANE_BATCH_RUN_AS_H
#define API_PLANE_BATCH_RUN_AS_H

#include <jansson.h>

#include "lib/err.h"

struct request;

/* Checks a task, or a job with its tasks. `doc`: accepted. The user accounts in it belong to
 * `pool`; if that is NULL, to the pool in its poolInfo. */
int batch_check_run_as(struct request *r, const json_t *doc, const char *pool,
                       struct err *e) MUST_CHECK;
/* Whether the sender has the rights of the first principal: 1 or 0. A key has them as long as
 * nobody else may list keys; a task's token has not. */
int batch_is_firsts(struct request *r, struct err *e) MUST_CHECK;
/* ERR_FORBIDDEN if nodes of this size are local ones that serve the first principal only. The other
 * functions check their pool like this, too. */
int batch_check_local(struct request *r, const char *vm_size, struct err *e) MUST_CHECK;
/* Checks a job that goes to this pool, because its tasks may name user accounts. */
int batch_check_run_in(struct request *r, const char *pool, struct err *e) MUST_CHECK;

#endif
