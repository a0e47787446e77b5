/* SPDX-License-Identifier: MIT
 *
 * Finds the jobs on which a new job depends, by their names; refuses missing jobs. Ids are in the
 * arena. Called only on the loop's thread.
 */
#include "api/arm/batchai/awaited.h"

#include <strings.h>

#include "api/arm/batchai/common.h"
#include "api/arm/batchai/render.h"
#include "api/arm/may.h"
#include "model/states.h"
#include "storage/storage.h"

#define LIST "properties.environmentVariables"

struct finding {
    struct request *r;
    const struct experiment *x; /* the new job's experiment */
    const char *own_name;
    size_t at; /* index of its environment variable, for errors */
    struct dependency *rows;
    size_t n;
};

static int refuse(const struct finding *f, const char *name, const char *why, struct err *e)
{
    const char *at = arena_printf(&f->r->arena, LIST "[%zu].value", f->at);
    return err_set(e, ERR_INVALID_PROPERTY, at, "%s names %s, %s", at, name, why);
}

static bool is_there_already(const struct finding *f, int64_t job)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->rows[i].awaited_id == job)
            return true;
    return false;
}

/* Fails unless the caller may read the job. Jobs of the new job's experiment are not checked. */
static int may_read(const struct finding *f, const struct experiment *x, const char *job,
                    struct err *e)
{
    struct scope scope = x->scope;
    if (x->id == f->x->id)
        return 0;
    scope.experiment = x->name;
    return arm_check_linked(f->r, "Microsoft.BatchAI/workspaces/experiments/jobs/read",
                            render_id(f->r, &scope, "jobs", job), e);
}

static int seek(const struct finding *f, const struct wish_dependency *d, const char *job,
                struct experiment *x, struct job *out, struct err *e)
{
    struct arena *a = &f->r->arena;
    struct storage *st = arm_of(f->r)->storage;
    *x = *f->x;
    if (d->experiment) {
        int rc = st_experiment_get(st, a, f->x->workspace_id,
                                   arena_strndup(a, d->experiment, d->experiment_len), x, e);
        if (rc <= 0)
            return rc;
    }
    return x->id ? st_job_get(st, a, x->id, job, out, e) : 0;
}

static void add(struct finding *f, const char *name, const struct wish_dependency *d,
                const struct job *j)
{
    struct dependency *row = &f->rows[f->n++];
    bool over = j->exec_state == EXEC_SUCCEEDED || j->exec_state == EXEC_FAILED;
    enum ended_how how = j->exec_state == EXEC_SUCCEEDED ? ENDED_WELL : ENDED_BADLY;
    *row = (struct dependency){.owner_kind = RES_JOB,
                               .awaited_kind = RES_JOB,
                               .awaited_id = j->id,
                               .name = name,
                               .wanted = d->wanted,
                               .state = over ? dependency_next(d->wanted, how) : DEPENDENCY_OPEN,
                               .ended = over ? how : 0};
}

static int find_one(struct finding *f, const struct wish_dependency *d, struct err *e)
{
    struct arena *a = &f->r->arena;
    struct experiment x;
    struct job j;
    const char *job = arena_strndup(a, d->job, d->job_len);
    const char *name = d->experiment
                           ? arena_printf(a, "%.*s/%s", (int)d->experiment_len, d->experiment, job)
                           : job;
    int rc = seek(f, d, job, &x, &j, e);
    if (rc < 0)
        return -1;
    if (rc == 0 && strcasecmp(job, f->own_name) == 0 && x.id == f->x->id)
        return refuse(f, name, "which is the job itself", e);
    if (rc == 0)
        return refuse(
            f, name,
            "but there is no such job; a job can only wait for jobs that were created before it: "
            "write JOB for a job of its experiment or EXPERIMENT/JOB for a job of its workspace",
            e);
    if (may_read(f, &x, j.name, e) < 0)
        return -1;
    if (j.prov_state == PROV_DELETING)
        return refuse(f, name, "which is being deleted", e);
    if (is_there_already(f, j.id))
        return refuse(f, name, "which is listed twice", e);
    add(f, name, d, &j);
    return 0;
}

int find_awaited(struct request *r, const struct experiment *x, const char *own_name,
                 const struct wishes *wishes, struct dependency **out, size_t *n, struct err *e)
{
    struct finding f = {.r = r, .x = x, .own_name = own_name, .at = wishes->depends_at};
    const char *at = wishes->depends_on ? wishes->depends_on : "";
    struct wish_dependency d;
    f.rows = arena_alloc(&r->arena, (*at ? WISH_DEPENDENCIES_MAX : 1) * sizeof *f.rows);
    while (*at && wish_next_dependency(&at, &d))
        if (find_one(&f, &d, e) < 0)
            return -1;
    *out = f.rows;
    *n = f.n;
    return 0;
}
