/* SPDX-License-Identifier: MIT
 *
 * How each toolkit's settings become processes: one row per toolkit. A row without a plan function
 * cannot run yet, and says so before anything is started; the same for secret references. Each
 * refusal is in one place here, for later work to lift.
 */
#ifndef SCHEDULER_LAUNCH_LAUNCH_H
#define SCHEDULER_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "model/failure.h"
#include "model/spec.h"

/* A process of a job. */
struct launch_task {
    int rank;         /* of the node that it runs on */
    const char *name; /* in task ids: "main" */
    const char *command_line;
    const char *stdout_name, *stderr_name; /* in the job's std directory */
};

/* The processes of a job that launch_refusal() let through; arena-owned. The job ends when the
 * first of them does. */
size_t launch_tasks(struct arena *a, const struct job_spec *spec, struct launch_task **tasks);

/* True: the job cannot run here; *why (arena-owned texts) says what is in the way. */
bool launch_refusal(struct arena *a, const struct job_spec *spec, struct failure *why);
/* The parts of it that also hold for a cluster's node set-up. */
bool launch_refuse_mounts(struct arena *a, const struct mount_list *mounts, struct failure *why);
bool launch_refuse_secrets(struct arena *a, const struct kv *env, size_t n, struct failure *why);

#endif
