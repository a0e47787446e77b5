/* SPDX-License-Identifier: MIT
 *
 * A stored sample of a pool's metrics; scheduler/formula/samples.h has their names and order.
 */
#ifndef MODEL_BATCH_SAMPLE_H
#define MODEL_BATCH_SAMPLE_H

#include <stdint.h>

struct batch_sample {
    int64_t at_us;
    const char *vals; /* "1,,2.5": in the order of enum sample_metric; empty: not available */
};

/* The tasks of all jobs of a pool. */
struct batch_pool_tasks {
    /* ready: without open dependencies; of a task with instances, each is counted */
    int64_t active;
    int64_t running, succeeded, failed;
};

#endif
