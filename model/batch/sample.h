/* SPDX-License-Identifier: MIT
 *
 * A stored sample of a pool's metrics; scheduler/formula/samples.h defines the names and the order
 * of the metrics.
 */
#ifndef MODEL_BATCH_SAMPLE_H
#define MODEL_BATCH_SAMPLE_H

#include <stdint.h>

struct batch_sample {
    int64_t at_us;
    const char *vals; /* "1,,2.5": in the order of enum sample_metric; empty: unknown */
};

/* How many tasks all jobs of a pool have. */
struct batch_pool_tasks {
    /* tasks without open dependencies; a task with several instances counts once for each
     * instance */
    int64_t active;
    int64_t running, succeeded, failed;
};

#endif
