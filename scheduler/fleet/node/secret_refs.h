/* SPDX-License-Identifier: MIT
 *
 * Secrets that pools and runs do not have in their documents but refer to, by the URL that they
 * have in a Key Vault. The front reads them whenever a node is prepared and when a run begins. The
 * storage keeps them, sealed, for as long as the run has its nodes, so that a restart of the daemon
 * ends no run whose secret is gone. In memory they are wiped with the other secrets of the spec.
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
    bool only_look;        /* whether they can be read; the spec stays as it is */
};

/* Puts the values in their places in a spec. False: one cannot be had, and *why (texts of the
 * arena) says which, why, and what helps. */
bool secret_refs_of_run(const struct secret_reader *r, struct run_spec *spec, struct failure *why);
bool secret_refs_of_pool(const struct secret_reader *r, struct node_setup_spec *spec,
                         struct failure *why);

#endif
