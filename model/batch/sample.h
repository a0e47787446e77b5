/* SPDX-License-Identifier: MIT
 *
 * What is stored of a pool's metrics; their names and order are those of
 * scheduler/formula/samples.h.
 */
#ifndef MODEL_BATCH_SAMPLE_H
#define MODEL_BATCH_SAMPLE_H

#include <stdint.h>

struct batch_sample {
    int64_t at_us;
    const char *vals; /* "1,,2.5": in the order of enum sample_metric; empty: not taken */
};

/* The tasks of all jobs of a pool. */
struct batch_pool_tasks {
    int64_t active; /* ready: they wait for no other task; each instance of one counts */
    int64_t running, succeeded, failed;
};

#endif
