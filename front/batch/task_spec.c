/* SPDX-License-Identifier: MIT
 *
 * What a task's run is to do: its document and its job's become directories, variables, and a
 * program.
 */
#include <string.h>

#include "front/batch/front_priv.h"

/* So many tries are as good as for ever. */
#define RETRIES_FOR_EVER 1000000
/* Between SIGTERM and SIGKILL. */
#define GRACE_S 30

static void set(struct kv *list, size_t *n, const char *name, const char *value)
{
    list[(*n)++] = (struct kv){.name = name, .value = value ? value : ""};
}

/* Paths of the node, below its root, with room for more. */
static void add_paths(struct arena *a, struct place_spec *place, size_t more)
{
    struct kv *p = arena_alloc(a, (16 + more) * sizeof *p);
    size_t n = 0;
    set(p, &n, "AZ_BATCH_NODE_ROOT_DIR", BATCH_ROOT);
    set(p, &n, "AZ_BATCH_NODE_SHARED_DIR", BATCH_ROOT "/shared");
    set(p, &n, "AZ_BATCH_NODE_STARTUP_DIR", BATCH_ROOT "/startup");
    set(p, &n, "AZ_BATCH_NODE_STARTUP_WORKING_DIR", BATCH_ROOT "/startup/wd");
    set(p, &n, "AZ_BATCH_NODE_MOUNTS_DIR", BATCH_ROOT "/fsmounts");
    set(p, &n, "AZ_BATCH_TASK_DIR", place->dir);
    set(p, &n, "AZ_BATCH_TASK_WORKING_DIR", arena_concat(a, place->dir, "/wd"));
    set(p, &n, "AZ_BATCH_CERTIFICATES_DIR", arena_concat(a, place->dir, "/certs"));
    place->rooted = p;
    place->n_rooted = n;
}

/* The job's variables, the task's, which win, and the service's, which nobody's hide. */
static void add_env(struct arena *a, const struct batch_front *f, const struct batch_task *t,
                    const struct batch_job *j, const struct batch_pool *p, bool dedicated,
                    const struct batch_job_spec *job, const struct batch_task_spec *task,
                    struct job_spec *out)
{
    struct kv *env = arena_alloc(a, (job->n_env + task->n_env + 16) * sizeof *env);
    size_t n = 0;
    for (size_t i = 0; i < job->n_env; i++)
        set(env, &n, job->env[i].name, job->env[i].value);
    for (size_t i = 0; i < task->n_env; i++)
        set(env, &n, task->env[i].name, task->env[i].value);
    set(env, &n, "AZ_BATCH_ACCOUNT_NAME", p->account);
    set(env, &n, "AZ_BATCH_POOL_ID", p->name);
    set(env, &n, "AZ_BATCH_JOB_ID", j->name);
    set(env, &n, "AZ_BATCH_TASK_ID", t->name);
    set(env, &n, "AZ_BATCH_NODE_IS_DEDICATED", dedicated ? "true" : "false");
    set(env, &n, "AZ_BATCH_TASK_USER_IDENTITY",
        task->user.name                       ? task->user.name
        : task->user.elevation == BATCH_ADMIN ? "PoolAdmin"
                                              : "PoolNonAdmin");
    if (f->windows.programs)
        set(env, &n, "BATCHAI_WINDOWS_PROGRAMS", f->windows.programs);
    out->env = env;
    out->n_env = n;
}

static void add_rules(const struct batch_constraints *limits, struct job_spec *out)
{
    out->max_wall_us = limits->max_wall_us;
    out->wishes.has_grace = true;
    out->wishes.grace_s = GRACE_S;
    out->wishes.retry = (struct retry_rule){
        .times = limits->retries < 0 ? RETRIES_FOR_EVER : limits->retries, .after_exit = true};
}

/* Whether its node is one of the pool's dedicated ones. Without a node: yes. */
static int is_dedicated(struct storage *st, struct arena *a, const struct run *r, bool *out,
                        struct err *e)
{
    struct node *nodes;
    size_t n;
    if (st_node_of_run(st, a, r->id, &nodes, &n, e) < 0)
        return -1;
    *out = n == 0 || nodes[0].vm_priority != VM_LOWPRIORITY;
    return 0;
}

static int load(const struct batch_front *f, struct storage *st, struct arena *a,
                const struct run *r, bool secrets, struct job_spec *out, struct err *e)
{
    struct batch_task t = {0};
    struct batch_job j = {0};
    struct batch_pool p = {0};
    struct batch_job_spec job;
    struct batch_task_spec task;
    const char *text = NULL;
    bool dedicated = true;
    int rc = st_batch_task_by_id(st, a, r->owner_id, &t, e);
    if (rc == 1)
        rc = st_batch_job_by_id(st, a, t.job_id, &j, e);
    if (rc == 1)
        rc = st_batch_pool_by_id(st, a, r->pool_id, &p, e);
    if (rc == 0)
        return err_set(e, ERR_JOB_NOT_FOUND, NULL, "the run's task is gone");
    if (rc < 0 || (secrets && st_batch_task_secrets(st, a, t.id, &text, e) < 0) ||
        batch_task_decode(a, t.doc, text, &task, e) < 0 ||
        batch_job_decode(a, j.doc, NULL, &job, e) < 0 || is_dedicated(st, a, r, &dedicated, e) < 0)
        return -1;
    struct place_spec *place = arena_alloc(a, sizeof *place);
    *place = (struct place_spec){.dir = arena_concat(a, BATCH_ROOT "/", batch_task_dir(a, &t)),
                                 .account_dir = BATCH_ROOT,
                                 .account = task.user.scope == BATCH_SCOPE_TASK ? NULL : "batch"};
    const char **argv;
    place->program.n = batch_program(f, a, &p, task.command_line, &argv);
    place->program.argv = argv;
    place->program.shown = task.command_line;
    *out = (struct job_spec){.place = place, .node_count = r->nodes, .priority = r->priority};
    if (place->program.n == 0)
        return err_set(e, ERR_INVALID_PROPERTY, "commandLine", "commandLine has no program in it");
    add_paths(a, place, task.n_packages);
    place->files = arena_alloc(a, (task.n_resources + task.n_packages + 1) * sizeof *place->files);
    task_refuse_unserved(a, &task, &job, place);
    if (task_add_packages(f, a, &p, task.packages, task.n_packages, place, e) < 0)
        return -1;
    if (secrets)
        task_add_files(f, a, task.resources, task.n_resources, place);
    add_env(a, f, &t, &j, &p, dedicated, &job, &task, out);
    add_rules(&task.limits, out);
    return 0;
}

int task_run_load(const struct front *f, struct storage *st, struct arena *a, const struct run *r,
                  bool secrets, struct job_spec *out, struct err *e)
{
    return load(batch_self(f), st, a, r, secrets, out, e);
}
