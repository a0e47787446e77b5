/* SPDX-License-Identifier: MIT
 *
 * Output on the nodes' own disks: outputs.c says where it is, looks.c lists and reads it over the
 * nodes' links, node_sweep.c removes the job directories that nobody needs any more.
 *
 * A job's directory is removed when the job has ended, unless an output directory is in it: then it
 * stays until the job is deleted, the node leaves, or sched_config.kept_outputs later jobs have
 * left one there too. Which are kept is in the rows (struct job_place); the sweep makes it so.
 */
#ifndef SCHEDULER_OUTPUTS_H
#define SCHEDULER_OUTPUTS_H

#include "scheduler/launch/env.h"
#include "scheduler/sched_priv.h"

/* An output directory of the job lies in its own directory, its mounts apart. */
bool outputs_in_job_dir(const struct launch_env *env, const struct job_spec *spec);
/* One of them lies on none of the shares that the daemon has a folder for. */
bool outputs_off_shares(struct arena *a, const struct job_spec *spec);

/* --- looks.c -------------------------------------------------------------------------------- */
void looks_reconcile(struct sched *s, int64_t id); /* its time is up */

/* --- node_sweep.c --------------------------------------------------------------------------- */
/* Once after the link came up, and after effect_sweep_node(): removes the directories of jobs that
 * are neither kept nor running. The link is ready. */
void node_sweep(struct node_rt *rt);
/* An effect: the rows changed. */
void effect_sweep_node(struct sched *s, int64_t id, const struct err *why);
/* The nodes that have output of a job which goes now are swept once that is on disk. */
int outputs_forget(struct sched *s, struct arena *a, int64_t job_id, struct err *e) MUST_CHECK;

#endif
