/* SPDX-License-Identifier: MIT
 *
 * Secrets that documents of pools and runs only refer to, by URL in a Key Vault. The front reads
 * them whenever a node is prepared and when a run begins. The storage keeps them, sealed, as long
 * as the run has its nodes, so that a run survives a restart of the daemon even if its secret was
 * deleted. In memory they are wiped with the other secrets of the spec.
 */
#ifndef SCHEDULER_FLEET_NODE_SECRET_REFS_H
#define SCHEDULER_FLEET_NODE_SECRET_REFS_H

#include <stdbool.h>

#include "model/failure.h"
#include "scheduler/front/front.h"

struct secret_reader {
    const struct front *front;
    struct storage *st;
    struct arena *a;
    int64_t pool_id;
    const struct run *run; /* NULL: for the pool itself */
    bool only_look;        /* only check whether they can be read; the spec stays unchanged */
};

/* Puts the values into a spec. False: a value is not available, and *why (texts in the arena) has
 * its name, cause and remedy. */
bool secret_refs_of_run(const struct secret_reader *r, struct run_spec *spec, struct failure *why);
bool secret_refs_of_pool(const struct secret_reader *r, struct node_setup_spec *spec,
                         struct failure *why);

#endif
