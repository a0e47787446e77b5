/* SPDX-License-Identifier: MIT
 *
 * Output on the nodes' own disks: outputs.c finds it, node_files.c lists and reads it over the
 * nodes' links, node/sweep.c removes run directories that are not needed any more.
 *
 * A run's directory is removed when the run has ended, unless it contains an output directory: then
 * it stays until the run is deleted, the node leaves, or sched_config.kept_outputs later runs have
 * left a directory there too. Rows record the kept directories (struct allocation), and the sweep
 * removes the others.
 */
#ifndef SCHEDULER_RUN_OUTPUTS_H
#define SCHEDULER_RUN_OUTPUTS_H

#include "scheduler/run/launch/env.h"
#include "scheduler/run/runs.h"

/* Whether an output directory of the run is in the run's directory, not on a mount. */
bool outputs_in_run_dir(const struct launch_env *env, const struct run_spec *spec);
/* Called when a run is being deleted: sweeps the nodes that have its output, when the deletion is
 * on disk. */
int outputs_forget(struct runs *rs, struct arena *a, int64_t run_id, struct err *e) MUST_CHECK;

#endif
