/* SPDX-License-Identifier: MIT
 *
 * Makes the spec of a task's run: the documents of task and job become directories, variables, and
 * a program.
 */
#include <stdlib.h>
#include <string.h>

#include "model/batch/pool_spec.h"
#include "scheduler/front/batch/front_priv.h"
#include "scheduler/front/batch/multi_instance.h"
#include "scheduler/site/site.h"

/* The number of retries that stands for "no limit". */
#define RETRIES_FOR_EVER 1000000
/* Time between SIGTERM and SIGKILL, in s. */
#define GRACE_S 30

/* ---- tokens of tasks, for their job's operations ---- */

/* A token is a sealed text: only the daemon can make it. It is valid while the run for which it was
 * made is in progress. */
#define TOKEN_KIND "batch task"

static const char *task_token(const struct batch_front *f, struct arena *a, const struct run *r)
{
    char *made =
        st_wrap(f->st, arena_printf(a, TOKEN_KIND " %lld %s", (long long)r->owner_id, r->guid));
    const char *copy = arena_strdup(a, made);
    free(made);
    return copy;
}

/* Reads a text of task_token(); false: the text is not of this kind. */
static bool take_token_apart(const char *text, int64_t *id, const char **guid)
{
    const size_t n = strlen(TOKEN_KIND " ");
    char *end;
    if (!text || strncmp(text, TOKEN_KIND " ", n) != 0)
        return false;
    *id = strtoll(text + n, &end, 10);
    *guid = end + 1;
    return *end == ' ';
}

int batch_task_of_token(struct storage *st, struct arena *a, const char *token,
                        struct batch_task *out, struct err *e)
{
    const char *text = NULL, *guid;
    int64_t id;
    struct run r;
    struct err wrong = {0};
    if (st_unwrap(st, a, token, &text, &wrong) < 0 || !take_token_apart(text, &id, &guid))
        return 0;
    int rc = st_run_of(st, a, RES_BATCH_TASK, id, 0, &r, e);
    if (rc <= 0 || strcmp(r.guid, guid) != 0 || r.state != RUN_ALLOCATED)
        return rc < 0 ? -1 : 0;
    return st_batch_task_by_id(st, a, id, out, e);
}

/* ---- the program of the run ------------------------------------------------------------------ */

static void set(struct kv *list, size_t *n, const char *name, const char *value)
{
    list[(*n)++] = (struct kv){.name = name, .value = value ? value : ""};
}

/* Adds variables for paths below the node's root, with room for more. */
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

/* How many retries the task has left; `before`: the retries of its earlier runs. */
static int retries_left(const struct batch_constraints *limits, int before)
{
    if (limits->retries < 0)
        return RETRIES_FOR_EVER;
    return limits->retries > before ? limits->retries - before : 0;
}

static void add_rules(const struct batch_constraints *limits, int before, struct run_spec *out)
{
    out->max_wall_us = limits->max_wall_us;
    out->wishes.has_grace = true;
    out->wishes.grace_s = GRACE_S;
    out->wishes.retry =
        (struct retry_rule){.times = retries_left(limits, before), .after_exit = true};
}

/* *out: the run's node is a dedicated node, or the run has no node yet. */
static int is_dedicated(struct storage *st, struct arena *a, const struct run *r, bool *out,
                        struct err *e)
{
    struct node *nodes;
    size_t n;
    *out = true;
    if (r->state == RUN_WAITING)
        return 0;
    if (st_node_of_run(st, a, r->id, &nodes, &n, e) < 0)
        return -1;
    *out = n == 0 || nodes[0].vm_priority != VM_LOWPRIORITY;
    return 0;
}

/* --- whose command it is ---------------------------------------------------------------------- */

/* The command of a task, or of a job preparation or release task. */
struct spec_command {
    struct batch_job j;
    struct batch_pool p;
    struct batch_job_spec job;
    struct batch_task_spec task;
    const char *id;
    bool releases; /* a release task */
    int retried;   /* retries of earlier runs */
};

static int find_job(struct storage *st, struct arena *a, const struct run *r, int64_t job_id,
                    struct spec_command *c, struct err *e)
{
    int rc = st_batch_job_by_id(st, a, job_id, &c->j, e);
    return rc <= 0 ? rc : st_batch_pool_by_id(st, a, r->pool_id, &c->p, e);
}

static int decode_task(struct kept_docs *docs, struct arena *a, const char *doc,
                       const char *secrets, struct batch_task_spec *out, struct err *e)
{
    return secrets ? batch_task_decode(a, doc, secrets, out, e)
                   : batch_task_decode_kept(docs, a, doc, out, e);
}

static int decode_pool(struct kept_docs *docs, struct arena *a, const char *doc,
                       const char *secrets, struct batch_pool_spec *out, struct err *e)
{
    return secrets ? batch_pool_decode(a, doc, secrets, out, e)
                   : batch_pool_decode_kept(docs, a, doc, out, e);
}

static int find_task(const struct batch_front *f, const struct front_read *how, const struct run *r,
                     struct spec_command *c, struct err *e)
{
    struct storage *st = how->st;
    struct arena *a = how->a;
    struct batch_task t;
    const char *text = NULL;
    int rc = st_batch_task_by_id(st, a, r->owner_id, &t, e);
    if (rc == 1)
        rc = find_job(st, a, r, t.job_id, c, e);
    if (rc <= 0)
        return rc;
    c->id = t.name;
    c->retried = t.retries - r->retried;
    if ((how->secrets && st_batch_task_secrets(st, a, t.id, &text, e) < 0) ||
        decode_task(f->docs, a, t.doc, text, &c->task, e) < 0 ||
        batch_job_decode_kept(f->docs, a, c->j.doc, &c->job, e) < 0)
        return -1;
    return 1;
}

static int find_chore(const struct batch_front *f, const struct front_read *how,
                      const struct run *r, struct spec_command *c, struct err *e)
{
    struct storage *st = how->st;
    struct arena *a = how->a;
    struct batch_chore h;
    const char *text = NULL;
    (void)f;
    int rc = st_batch_chore_by_id(st, a, r->owner_id, &h, e);
    if (rc == 1)
        rc = find_job(st, a, r, h.job_id, c, e);
    if (rc <= 0)
        return rc;
    if ((how->secrets && st_batch_job_secrets(st, a, c->j.id, &text, e) < 0) ||
        batch_job_decode(a, c->j.doc, text, &c->job, e) < 0)
        return -1;
    const struct batch_task_spec *s = h.kind == BATCH_RELEASE ? c->job.release : c->job.preparation;
    if (!s)
        return 0;
    c->task = *s;
    c->id = s->id;
    c->releases = h.kind == BATCH_RELEASE;
    return 1;
}

/* --- the result ------------------------------------------------------------------------------- */

static const char *task_dir(struct arena *a, const struct spec_command *c, const char *id)
{
    return arena_concat(a, BATCH_ROOT, "/", batch_job_dir(a, c->j.name, c->j.number), "/", id);
}

/* The directory of the job's preparation task; NULL: none. */
static const char *preparation_dir(struct arena *a, const struct spec_command *c)
{
    const struct batch_task_spec *prep = c->job.preparation;
    return prep ? task_dir(a, c, prep->id) : NULL;
}

/* Adds variables for directories; for all tasks but the preparation itself, also the directory of
 * the job's preparation. */
static void add_places(struct arena *a, const struct spec_command *c, size_t n_packages,
                       struct place_spec *place)
{
    const char *dir = preparation_dir(a, c);
    add_paths(a, place, n_packages);
    if (!dir || strcmp(c->job.preparation->id, c->id) == 0)
        return;
    set(place->rooted, &place->n_rooted, "AZ_BATCH_JOB_PREP_DIR", dir);
    set(place->rooted, &place->n_rooted, "AZ_BATCH_JOB_PREP_WORKING_DIR",
        arena_concat(a, dir, "/wd"));
}

/* Adds the job's variables, then the task's, then the service's: later ones replace earlier
 * ones. */
static void add_env(struct arena *a, const struct batch_front *f, const struct spec_command *c,
                    bool dedicated, const char *token, struct run_spec *out)
{
    const struct batch_task_spec *task = &c->task;
    struct kv *env = arena_alloc(a, (c->job.n_env + task->n_env + 16) * sizeof *env);
    size_t n = 0;
    for (size_t i = 0; i < c->job.n_env; i++)
        set(env, &n, c->job.env[i].name, c->job.env[i].value);
    for (size_t i = 0; i < task->n_env; i++)
        set(env, &n, task->env[i].name, task->env[i].value);
    set(env, &n, "AZ_BATCH_ACCOUNT_NAME", c->p.account);
    set(env, &n, "AZ_BATCH_POOL_ID", c->p.name);
    if (f->address.url && f->address.url(f->address.ctx))
        set(env, &n, "AZ_BATCH_ACCOUNT_URL", arena_concat(a, f->address.url(f->address.ctx), "/"));
    if (task->has_token && token)
        set(env, &n, "AZ_BATCH_AUTHENTICATION_TOKEN", token);
    set(env, &n, "AZ_BATCH_JOB_ID", c->j.name);
    set(env, &n, "AZ_BATCH_TASK_ID", c->id);
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

/* Adds input files, output files, and the variables with their paths. */
static int add_files(const struct batch_front *f, const struct front_read *how,
                     const struct spec_command *c, const struct batch_pool_spec *pool,
                     struct place_spec *place, struct err *e)
{
    struct arena *a = how->a;
    const struct batch_task_spec *task = &c->task;
    const struct batch_pool *p = &c->p;
    add_places(a, c, pool->n_packages + task->n_packages, place);
    place->files.items =
        arena_alloc(a, (task->n_resources + task->n_packages + 1) * sizeof *place->files.items);
    struct batch_inputs in = {.front = f,
                              .a = a,
                              .pool = p,
                              .files = &place->files,
                              .rooted = place->rooted,
                              .n_rooted = place->n_rooted};
    if (batch_add_packages(&in, pool->packages, pool->n_packages, BATCH_PACKAGES_ON_POOL, e) < 0 ||
        batch_add_packages(&in, task->packages, task->n_packages, BATCH_PACKAGES_OF_TASK, e) < 0)
        return -1;
    if (how->secrets) {
        batch_add_files(&in, task->resources, task->n_resources,
                        arena_concat(a, place->dir, "/wd"));
        batch_add_outputs(f, a, p->account_id, task->outputs, task->n_outputs, place);
    }
    place->n_rooted = in.n_rooted;
    if (!place->refused) {
        place->refused = in.refused;
        place->why_refused = in.why_refused;
    }
    return 0;
}

bool batch_admins_are_root(const struct batch_front *f)
{
    const struct site *site = fleet_site(sched_fleet(f->sched));
    return site && site->admin_is_root;
}

bool batch_images_bring_users(const struct batch_front *f)
{
    const struct site *site = fleet_site(sched_fleet(f->sched));
    return site && site->image_users;
}

static int load(const struct batch_front *f, const struct front_read *how, const struct run *r,
                struct run_spec *out, struct err *e)
{
    struct storage *st = how->st;
    struct arena *a = how->a;
    struct spec_command c = {.id = NULL};
    struct batch_pool_spec pool;
    const char *pool_text = NULL;
    bool dedicated = true, held = false;
    int rc = (is_chore(r) ? find_chore : find_task)(f, how, r, &c, e);
    if (rc == 0)
        return err_set(e, ERR_JOB_NOT_FOUND, NULL, "the run's task is gone");
    if (rc < 0 || (how->secrets && st_batch_pool_secrets(st, a, c.p.id, &pool_text, e) < 0) ||
        decode_pool(f->docs, a, c.p.doc, pool_text, &pool, e) < 0 ||
        is_dedicated(st, a, r, &dedicated, e) < 0 ||
        (how->secrets && task_run_waits(f, st, a, r, &held, e) < 0))
        return -1;
    struct place_spec *place = arena_alloc(a, sizeof *place);
    *place =
        (struct place_spec){.dir = task_dir(a, &c, c.id), .held = held, .unscheduled = c.releases};
    place_set_user(a, &c.task.user, &pool, place);
    const char **argv;
    place->program.n = batch_program(f, a, &c.p, c.task.command_line, &argv);
    place->program.argv = argv;
    place->program.shown = c.task.command_line;
    *out = (struct run_spec){.place = place, .node_count = r->nodes, .priority = r->priority};
    if (c.task.container) {
        out->container = batch_container(a, &c.p, &pool, c.task.container,
                                         place->admin && batch_admins_are_root(f), place);
        batch_container_narrow(a, c.task.container, preparation_dir(a, &c), place, out->container);
    }
    if (place->program.n == 0 && !c.task.container)
        return err_set(e, ERR_INVALID_PROPERTY, "commandLine", "commandLine contains no program");
    if (add_files(f, how, &c, &pool, place, e) < 0)
        return -1;
    if (c.task.multi && how->secrets)
        team_add(f, a, &c.p, c.task.multi, place);
    add_env(a, f, &c, dedicated, how->secrets && c.task.has_token ? task_token(f, a, r) : NULL,
            out);
    add_rules(&c.task.limits, c.retried, out);
    return 0;
}

int task_run_load(const struct front *f, const struct front_read *how, const struct run *r,
                  struct run_spec *out, struct err *e)
{
    return load(batch_self(f), how, r, out, e);
}
