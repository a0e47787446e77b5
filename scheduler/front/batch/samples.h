/* SPDX-License-Identifier: MIT
 *
 * The stored metrics of a pool.
 */
#ifndef SCHEDULER_FRONT_BATCH_SAMPLES_H
#define SCHEDULER_FRONT_BATCH_SAMPLES_H

#include "scheduler/formula/samples.h"
#include "scheduler/front/batch/batch.h"

/* The samples of a pool; the caller destroys them. Leaves out samples with a future time, which
 * were taken before the clock was set back. NULL: error. */
struct samples *batch_samples_read(const struct batch_front *f, struct arena *a, int64_t pool_id,
                                   struct err *e);

#endif
