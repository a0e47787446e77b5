/* SPDX-License-Identifier: MIT
 *
 * Samples of the metrics of Azure Batch's pools; storage/storage.h says how all of these functions
 * behave.
 */
#ifndef STORAGE_BATCH_SAMPLES_H
#define STORAGE_BATCH_SAMPLES_H

#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/sample.h"

struct storage;

/* Replaces one of the same instant; removes those before `forget_us`. */
int st_batch_sample_add(struct storage *, int64_t pool_id, const struct batch_sample *s,
                        int64_t forget_us, struct err *) MUST_CHECK;
/* Oldest first. */
int st_batch_samples(struct storage *, struct arena *, int64_t pool_id, struct batch_sample **rows,
                     size_t *n, struct err *);
/* When the last one was taken; 0: there is none. */
int st_batch_sample_last(struct storage *, int64_t pool_id, int64_t *at_us, struct err *);
int st_batch_samples_remove(struct storage *, int64_t pool_id, struct err *) MUST_CHECK;
int st_batch_pool_tasks(struct storage *, struct arena *, int64_t account_id, const char *pool_name,
                        struct batch_pool_tasks *out, struct err *);

#endif
