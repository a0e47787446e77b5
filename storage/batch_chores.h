/* SPDX-License-Identifier: MIT
 *
 * What Azure Batch's jobs do on their nodes before their first task there and after their last;
 * storage/storage.h says how all of these functions behave.
 */
#ifndef STORAGE_BATCH_CHORES_H
#define STORAGE_BATCH_CHORES_H

#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/job_rows.h"

struct storage;

/* Writes one that begins, in the place of the one of its job, node and kind, if there was one. */
int st_batch_chore_begin(struct storage *, const struct batch_chore *c, int64_t *id,
                         struct err *) MUST_CHECK;
int st_batch_chore_get(struct storage *, struct arena *, int64_t job_id, const char *node_name,
                       enum batch_chore_kind kind, struct batch_chore *out, struct err *);
int st_batch_chore_by_id(struct storage *, struct arena *, int64_t id, struct batch_chore *out,
                         struct err *);
/* Those of a job: by node, and of each node by kind. They begin with the nodes behind `after`. */
int st_batch_chore_list(struct storage *, struct arena *, int64_t job_id, const char *after,
                        struct batch_chore **rows, size_t *n, struct err *);
/* Tries it again; writes its end. */
int st_batch_chore_retry(struct storage *, int64_t id, int64_t now_us, struct err *) MUST_CHECK;
/* Its container has started. */
int st_batch_chore_contain(struct storage *, int64_t id, const char *container_id,
                           struct err *) MUST_CHECK;
/* Runs of them that are over and were not removed. */
int st_batch_chore_over(struct storage *, struct arena *, int64_t **ids, size_t *n, struct err *);
struct st_batch_chore_end {
    int64_t id, now_us;
    bool has_exit_code;
    int exit_code;
    enum batch_result result;
    const char *failure; /* NULL: it succeeded */
    const char *container_error;
};
int st_batch_chore_end(struct storage *, const struct st_batch_chore_end *end,
                       struct err *) MUST_CHECK;
/* The tasks of a job that wait on a node until it is prepared. */
int st_batch_task_preparing(struct storage *, struct arena *, int64_t job_id, const char *node_name,
                            struct batch_task **rows, size_t *n, struct err *);

#endif
