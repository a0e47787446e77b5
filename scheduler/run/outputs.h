/* SPDX-License-Identifier: MIT
 *
 * Output on the nodes' own disks: outputs.c says where it is, node_files.c lists and reads it over
 * the nodes' links, node_sweep.c removes the job directories that nobody needs any more.
 *
 * A job's directory is removed when the job has ended, unless an output directory is in it: then it
 * stays until the job is deleted, the node leaves, or sched_config.kept_outputs later jobs have
 * left one there too. Which are kept is in the rows (struct allocation); the sweep makes it so.
 */
#ifndef SCHEDULER_RUN_OUTPUTS_H
#define SCHEDULER_RUN_OUTPUTS_H

#include "scheduler/run/launch/env.h"
#include "scheduler/run/runs.h"

/* An output directory of the job lies in its own directory, its mounts apart. */
bool outputs_in_job_dir(const struct launch_env *env, const struct job_spec *spec);
/* The nodes that have output of a run which goes now are swept once that is on disk. */
int outputs_forget(struct runs *rs, struct arena *a, int64_t run_id, struct err *e) MUST_CHECK;

#endif
