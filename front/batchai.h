/* SPDX-License-Identifier: MIT
 *
 * Batch AI as a front of the core: reads the documents of clusters and jobs, and writes into a
 * job's row what becomes of its run. Knows nothing of HTTP; api/batchai/ stands above it.
 */
#ifndef FRONT_BATCHAI_H
#define FRONT_BATCHAI_H

#include "scheduler/fleet/front.h"

struct batchai_front {
    struct front front;
    bool strict; /* as the service: a job that no process failed has no exit code */
};

/* Owns nothing. */
struct batchai_front batchai_front(bool strict);

#endif
