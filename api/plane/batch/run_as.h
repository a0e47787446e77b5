/* SPDX-License-Identifier: MIT
 *
 * What runs as the nodes' administrator, where the site lets that be root (batch.admin_is_root):
 * whether who adds it may. Keys of an account may all; the token of a task may what the task itself
 * does.
 */
#ifndef API_PLANE_BATCH_RUN_AS_H
#define API_PLANE_BATCH_RUN_AS_H

#include <jansson.h>

#include "lib/err.h"

struct request;

/* Of a task, or of a job with its tasks: `doc`, which is accepted. A user account that it names is
 * one of the pool, or NULL: of that in its poolInfo. */
int batch_check_run_as(struct request *r, const json_t *doc, const char *pool,
                       struct err *e) MUST_CHECK;
/* Whether something may run on nodes of this size: ERR_FORBIDDEN if these are local ones that serve
 * the first principal alone. The others ask this of their pool, too. */
int batch_check_local(struct request *r, const char *vm_size, struct err *e) MUST_CHECK;
/* A job, whose tasks may name user accounts, goes to this pool. */
int batch_check_run_in(struct request *r, const char *pool, struct err *e) MUST_CHECK;

#endif
