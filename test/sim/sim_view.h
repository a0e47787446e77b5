/* SPDX-License-Identifier: MIT
 *
 * What the database holds, as the checks look at it: only what they compare, read in four
 * statements, as it is read after each step. How clients and the scheduler read the same rows is
 * compared with it now and then.
 */
#ifndef TEST_SIM_VIEW_H
#define TEST_SIM_VIEW_H

#include "test/sim/sim.h"

struct view {
    struct sim *m;
    struct cluster *clusters; /* counts: of the nodes below */
    size_t n_clusters;
    struct job *jobs; /* of all groups */
    struct run *runs; /* of each; id 0: it has none */
    size_t n_jobs;
    struct node *nodes;
    size_t n_nodes;
    struct allocation *held; /* the live ones */
    size_t n_held;
};

/* false: it could not be read, which was noted. */
bool sim_view_read(struct sim *m, struct view *v);
/* Notes where the storage reads otherwise. */
void sim_view_compare(struct view *v);

#endif
