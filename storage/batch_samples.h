/* SPDX-License-Identifier: MIT
 *
 * Samples of the metrics of Azure Batch's pools; storage/storage.h describes the common behaviour
 * of these functions.
 */
#ifndef STORAGE_BATCH_SAMPLES_H
#define STORAGE_BATCH_SAMPLES_H

#include <stddef.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/sample.h"
#include "storage/sql/batch_sample.h"

struct storage;

/* Replaces a sample at the instant of `s`; removes samples before `forget_us`. */
int st_batch_sample_add(struct storage *, int64_t pool_id, const struct batch_sample *s,
                        int64_t forget_us, struct err *) MUST_CHECK;

#endif
