/* SPDX-License-Identifier: MIT
 *
 * Callers' own work functions, run by a folder's workers.
 */
#include <stdlib.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "storage/folders/files_priv.h"

struct files_work {
    struct folder_job job; /* must be first */
    const struct files_task *task;
    void *ctx; /* NULL: given back to the caller */
};

static bool work_step(struct folder_job *job)
{
    struct files_work *w = CONTAINER_OF(job, struct files_work, job);
    w->task->work(w->ctx);
    return false;
}

static void work_tell(struct folder_job *job, const struct err *why)
{
    struct files_work *w = CONTAINER_OF(job, struct files_work, job);
    void *ctx = w->ctx;
    if (!why)
        w->ctx = NULL;
    w->task->done(ctx, why);
}

static void work_destroy(struct folder_job *job)
{
    struct files_work *w = CONTAINER_OF(job, struct files_work, job);
    if (w->ctx)
        w->task->destroy(w->ctx);
    free(w);
}

static const struct job_kind work_kind = {work_step, work_tell, work_destroy, .is_own = true};

struct files_work *files_run(struct files *f, const char *folder, const struct files_task *task,
                             void *ctx)
{
    struct files_work *w = xcalloc(1, sizeof *w);
    *w = (struct files_work){.job.kind = &work_kind, .task = task, .ctx = ctx};
    job_begin(f, folder, &w->job);
    return w;
}

void files_forget(struct files_work *work)
{
    if (!job_withdraw(&work->job))
        job_forget(&work->job);
}
