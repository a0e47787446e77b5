/* SPDX-License-Identifier: MIT
 *
 * Jobs: submit, show, list, terminate, delete, and where their nodes can be logged in to.
 */
#include <assert.h>
#include <string.h>

#include "api/arm/may.h"
#include "api/arm/operation.h"
#include "api/batchai/awaited.h"
#include "api/batchai/common.h"
#include "api/batchai/handlers.h"
#include "api/batchai/home.h"
#include "api/batchai/linked.h"
#include "api/batchai/listing.h"
#include "api/batchai/lookup.h"
#include "api/batchai/named_shares.h"
#include "api/batchai/remote_login.h"
#include "api/batchai/render.h"
#include "api/batchai/shown_jobs.h"
#include "front/batchai.h"
#include "model/capacity.h"
#include "model/home.h"
#include "model/schema.h"
#include "model/spec.h"
#include "scheduler/scheduler.h"
#include "storage/storage.h"

/* The job without the columns of its run, because shown_jobs does not hear of changes to runs. */
static struct job own_row(const struct job *j)
{
    struct job own = *j;
    own.priority = own.node_count = own.attempt = 0;
    own.part = false;
    own.runs = 0;
    own.need = (struct capacity){0};
    own.max_wall_us = 0;
    return own;
}

static struct replied *show(struct request *r, const struct job *j)
{
    const struct job own = own_row(j);
    int64_t *note = request_note(r);
    struct strbuf out = STRBUF_INIT;
    render_job(r, &own, &out);
    const struct shown_job shown = {out.s, out.len, own.updated_us};
    /* A text that depends on the time is not kept. */
    int64_t kept = pace_is_on(arm_pace(r), NULL)
                       ? 0
                       : shown_jobs_keep(batchai_of(r)->shown_jobs, own.id, r->version, &shown);
    if (note)
        *note = kept;
    reply_etag(r, own.updated_us);
    return reply_json_text(r, 200, &out);
}

#ifdef __SANITIZE_ADDRESS__
/* Builds for tests check each text that is shown again. */
static void check_shown(struct request *r, const struct shown_job *s)
{
    struct err e;
    struct job j;
    struct strbuf out = STRBUF_INIT;
    bool found = find_job(r, &j, &e) == 0;
    assert(found && j.updated_us == s->updated_us);
    j = own_row(&j);
    render_job(r, &j, &out);
    assert(out.len == s->len && memcmp(out.s, s->text, s->len) == 0);
    strbuf_free(&out);
}
#else
static void check_shown(struct request *r, const struct shown_job *s)
{
    (void)r, (void)s;
}
#endif

/* Shows the job that the same request found before, if its row has not changed: then it still
 * exists, and so do all levels above it. NULL: it must be looked up. */
static struct replied *show_again(struct request *r)
{
    const int64_t *note = request_note(r);
    struct shown_job s;
    if (!note || pace_is_on(arm_pace(r), NULL) ||
        !shown_jobs_find(batchai_of(r)->shown_jobs, *note, r->version, &s))
        return NULL;
    check_shown(r, &s);
    reply_etag(r, s.updated_us);
    return reply_json_copy(r, 200, s.text, s.len);
}

/* Refuses a job that could run after no resize, instead of leaving it in the queue. */
static int check_node_count(struct request *r, const struct cluster *c, int n, struct err *e)
{
    int most = sched_most_nodes(arm_of(r)->sched, c->vm_size, c->vm_priority, &c->scale);
    if (n <= most)
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "properties.nodeCount",
                   "properties.nodeCount is %d, but cluster %s can have at most %d nodes of size "
                   "%s.",
                   n, c->name, most, c->vm_size);
}

/* The same for a part that no node can have. */
static int check_part(struct request *r, const struct cluster *c, const struct job *j,
                      struct err *e)
{
    const char *most;
    if (!j->part ||
        sched_part_fits(arm_of(r)->sched, &r->arena, c->vm_size, c->vm_priority, &j->need, &most))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "properties.environmentVariables",
                   "properties.environmentVariables ask for %s of each node, but no node of "
                   "cluster %s can have as much: the most is %s.",
                   capacity_text(&r->arena, &j->need), c->name, most);
}

struct create_tx {
    struct request *r;
    const struct accepted *a;
    struct workspace w;
    struct experiment x;
    struct scope scope;
    struct job j;
    const char *guid;
    const struct cluster *c;
    struct mount_list mounts; /* of the job itself, without keys */
    struct dependency *awaited;
    size_t n_awaited;
};

static int create_in_tx(struct storage *st, void *ctx, struct err *e)
{
    struct create_tx *t = ctx;
    if (home_make_experiment(t->r, &t->w, &t->x, e) < 0 ||
        make_named_shares(t->r, t->c, &t->mounts, e) < 0)
        return -1;
    t->j.experiment_id = t->x.id;
    if (st_job_insert(st, &t->j, t->a->secrets_text, &t->j.id, e) < 0)
        return -1;
    for (size_t i = 0; i < t->n_awaited; i++)
        t->awaited[i].owner_id = t->j.id;
    if (st_dependency_add(st, &t->r->arena, t->awaited, t->n_awaited, t->r->now_us, e) < 0)
        return -1;
    struct op_request op = {.kind = RES_JOB,
                            .resource_id = t->j.id,
                            .scope = &t->scope,
                            .name = t->j.name,
                            .in_group = request_is_flat(t->r),
                            .done = true};
    return operation_start(t->r, &op, &t->guid, e);
}

static int fill_job(struct create_tx *t, const struct cluster *c, char *guid, struct err *e)
{
    struct request *r = t->r;
    struct job_spec spec = {0};
    assert(t->a->doc_text); /* what is stored is what is decoded */
    schema_decode(&schema_job, &r->arena, t->a->doc, &spec);
    t->scope = t->x.scope;
    t->scope.experiment = t->x.name;
    t->j = (struct job){.cluster_id = c->id,
                        .name = request_param(r, "job"),
                        .guid = guid,
                        .doc = t->a->doc_text,
                        .cluster_ref = spec.cluster_id,
                        .priority = spec.priority,
                        .node_count = spec.node_count,
                        .part = spec.wishes.part,
                        .need = spec.wishes.need,
                        .runs = spec.wishes.array_n,
                        .at_once = spec.wishes.array_limit,
                        .max_wall_us = spec.max_wall_us,
                        .prov_state = PROV_SUCCEEDED,
                        .exec_state = EXEC_QUEUED,
                        .prov_us = r->now_us,
                        .exec_us = r->now_us,
                        .created_by = r->who->object_id,
                        .created_us = r->now_us,
                        .updated_us = r->now_us};
    t->c = c;
    t->mounts = spec.mounts;
    if (spec.wishes.array) {
        int *numbers = arena_alloc(&r->arena, WISH_ARRAY_MAX * sizeof *numbers);
        (void)wish_array(spec.wishes.array, numbers);
        t->j.numbers = numbers;
    }
    if (check_node_count(r, c, t->j.node_count, e) < 0 || check_part(r, c, &t->j, e) < 0)
        return -1;
    return find_awaited(r, &t->x, t->j.name, &spec.wishes, &t->awaited, &t->n_awaited, e);
}

/* With the keys of the mounts. Those of the cluster were checked with it. */
static int check_mounts(struct create_tx *t, struct err *e)
{
    struct job_spec spec = {0};
    if (t->mounts.n == 0)
        return 0;
    int rc = job_spec_decode(&t->r->arena, &t->j, t->a->secrets_text, &spec, e);
    if (rc == 0)
        rc = check_linked_mounts(t->r, &spec.mounts, e);
    if (rc == 0)
        rc = check_named_shares(t->r, t->c, &spec.mounts, e);
    job_spec_wipe(&spec);
    return rc;
}

static struct replied *create(struct create_tx *t, const struct cluster *c)
{
    struct request *r = t->r;
    struct err e;
    char guid[GUID_SIZE];
    request_guid(r, guid);
    if (check_alive("cluster", c->name, c->prov_state, &e) < 0 || fill_job(t, c, guid, &e) < 0 ||
        check_mounts(t, &e) < 0 || st_whole(arm_of(r)->storage, create_in_tx, t, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "job.queued", LF_STR("job", t->j.name), LF_STR("cluster", c->name),
             LF_INT("nodes", t->j.node_count), LF_INT("priority", t->j.priority),
             LF_STR("by", r->who->name));
    batchai_job_queued(arm_of(r)->front, c, &t->j);
    return reply_accepted(r, &t->scope, t->guid);
}

static struct replied *repeat(struct request *r, const struct job *j, const struct accepted *a)
{
    struct err e;
    const char *secrets;
    if (check_alive("job", j->name, j->prov_state, &e) < 0 ||
        st_job_secrets(arm_of(r)->storage, &r->arena, j->id, &secrets, &e) < 0 ||
        check_immutable(r, &schema_job, "job", j->name, j->doc, secrets, a, &e) < 0)
        return reply_err(r, &e);
    return show(r, j);
}

/* The cluster's id is stored as the service rendered it, so that it compares and reads the same
 * whatever case the client used. */
static int normalise_cluster_id(struct request *r, json_t *doc, struct cluster *c, struct err *e)
{
    json_t *ref = json_object_get(json_object_get(doc, "properties"), "cluster");
    if (find_cluster_by_ref(r, json_text_at(ref, "id"), c, e) < 0)
        return -1;
    const char *rendered = render_id(r, &c->scope, "clusters", c->name);
    if (arm_check_linked(r, "Microsoft.BatchAI/workspaces/clusters/read", rendered, e) < 0)
        return -1;
    json_object_set_new_nocheck(ref, "id", json_string_nocheck(rendered)); /* stored as UTF-8 */
    return 0;
}

/* Writes the document with the present mounts of the cluster, which the job will see. */
static void write_doc(struct accepted *a, const struct cluster *c)
{
    static const char *const path[] = {"properties", "nodeSetup", "mountVolumes", NULL};
    size_t n;
    const char *mounts = stored_member(c->doc, path, &n);
    accepted_write(a);
    if (mounts)
        accepted_add(a, JOB_DOC_CLUSTER_MOUNTS, mounts, n);
}

static struct replied *create_or_repeat(struct request *r, json_t *doc, struct accepted *a)
{
    struct err e;
    struct create_tx t = {.r = r, .a = a};
    struct cluster c;
    struct job j;
    const char *name = request_param(r, "job");
    if (home_experiment(r, &t.w, &t.x, &e) < 0 || check_name(r, "job", name, &e) < 0)
        return reply_err(r, &e);
    int rc = st_job_get(arm_of(r)->storage, &r->arena, t.x.id, name, &j, &e);
    if (rc < 0)
        return reply_err(r, &e);
    /* A job outlives its cluster, so a repeated PUT must not fail because the cluster is gone. */
    if (normalise_cluster_id(r, doc, &c, &e) < 0 && rc == 0)
        return reply_err(r, &e);
    if (rc > 0)
        return repeat(r, &j, a);
    write_doc(a, &c);
    return create(&t, &c);
}

struct replied *jobs_create(struct request *r)
{
    struct err e;
    struct accepted a;
    if (accept_body(r, &schema_job, &a, &e) < 0)
        return reply_err(r, &e);
    struct replied *done = create_or_repeat(r, a.doc, &a);
    accepted_release(&a);
    return done;
}

struct replied *jobs_get(struct request *r)
{
    struct err e;
    struct job j;
    struct replied *again = show_again(r);
    if (again)
        return again;
    if (find_job(r, &j, &e) < 0)
        return reply_err(r, &e);
    return show(r, &j);
}

struct replied *jobs_delete(struct request *r)
{
    struct err e;
    struct job j;
    if (find_job(r, &j, &e) < 0)
        return delete_missing(r, &e);
    return delete_resource(r, RES_JOB, j.id, &j.scope, j.name);
}

static int fetch(struct request *r, const struct listing_owner *owner, int64_t after, int limit,
                 void **rows, size_t *n, struct err *e)
{
    struct storage *st = arm_of(r)->storage;
    struct job *found;
    int rc =
        owner->experiment_id
            ? st_job_list_shown(st, &r->arena, owner->experiment_id, after, limit, &found, n, e)
            : st_job_list_named(st, &r->arena, arm_subscription(r), HOME_WORKSPACE, HOME_EXPERIMENT,
                                after, limit, &found, n, e);
    for (size_t i = 0; rc == 0 && owner->experiment_id && i < *n; i++)
        found[i].scope = owner->scope;
    *rows = found;
    return rc;
}

static void render_row(struct request *r, const void *rows, size_t i, struct strbuf *out)
{
    render_job(r, (const struct job *)rows + i, out);
}

static int64_t row_id(const void *rows, size_t i)
{
    return ((const struct job *)rows)[i].id;
}

static const struct listing listing = {&schema_job, fetch, render_row, row_id};

/* Lists jobs for either form of the path. */
struct replied *jobs_list(struct request *r)
{
    struct err e;
    struct experiment x;
    int rc = seek_experiment(r, &x, &e);
    if (rc < 0)
        return reply_err(r, &e);
    /* Without a home there are no jobs: NO_ROW matches no experiment. */
    struct listing_owner owner = {.experiment_id = NO_ROW};
    if (rc > 0) {
        owner = (struct listing_owner){.experiment_id = x.id, .scope = x.scope};
        owner.scope.experiment = x.name;
    }
    return reply_listing(r, &listing, &owner);
}

struct replied *jobs_list_all(struct request *r)
{
    struct err e;
    if (find_subscription(r, &e) < 0)
        return reply_err(r, &e);
    const struct listing_owner all = {0};
    return reply_listing(r, &listing, &all);
}

struct terminate_tx {
    struct request *r;
    const struct job *j;
    const char *guid;
};

static int terminate_in_tx(struct storage *st, void *ctx, struct err *e)
{
    (void)st;
    struct terminate_tx *t = ctx;
    struct op_request op = {.kind = RES_JOB,
                            .resource_id = t->j->id,
                            .scope = &t->j->scope,
                            .name = t->j->name,
                            .in_group = request_is_flat(t->r)};
    if (operation_start(t->r, &op, &t->guid, e) < 0)
        return -1;
    return batchai_terminate(arm_of(t->r)->front, t->j->id, e) < 0 ? -1 : 0;
}

struct replied *jobs_terminate(struct request *r)
{
    struct err e;
    struct job j;
    if (find_job(r, &j, &e) < 0)
        return reply_err(r, &e);
    if (j.exec_state == EXEC_SUCCEEDED || j.exec_state == EXEC_FAILED)
        return reply_empty(r, 200);
    struct terminate_tx t = {.r = r, .j = &j};
    if (st_tx(arm_of(r)->storage, "job terminate", terminate_in_tx, &t, &e) < 0)
        return reply_err(r, &e);
    return reply_accepted(r, &j.scope, t.guid);
}

/* Adds the nodes of one run. */
static int nodes_of_run(struct request *r, int64_t run_id, struct node **out, size_t *n,
                        struct err *e)
{
    struct storage *st = arm_of(r)->storage;
    struct run run;
    struct allocation *at = NULL;
    size_t n_at = 0;
    int rc = st_run_by_id(st, &r->arena, run_id, &run, e);
    if (rc > 0 && run.state != RUN_WAITING)
        rc = st_allocation_of_run(st, &r->arena, run.id, run.attempt, &at, &n_at, e);
    struct node *all = arena_alloc(&r->arena, (*n + n_at + 1) * sizeof *all);
    if (*n > 0)
        memcpy(all, *out, *n * sizeof *all);
    *out = all;
    for (size_t i = 0; rc >= 0 && i < n_at; i++) {
        rc = st_node_by_id(st, &r->arena, at[i].node_id, &all[*n], e);
        bool known = false;
        for (size_t k = 0; k < *n; k++)
            known = known || all[k].id == all[*n].id; /* the runs of an array may share one */
        *n += rc > 0 && !known;
    }
    return rc < 0 ? -1 : 0;
}

/* The nodes that the job runs on, or ran on and that still exist. */
static int nodes_used(struct request *r, const struct job *j, struct node **out, size_t *n,
                      struct err *e)
{
    int64_t *ids;
    size_t n_runs;
    *out = NULL;
    *n = 0;
    if (st_run_ids_of(arm_of(r)->storage, &r->arena, RES_JOB, j->id, &ids, &n_runs, e) < 0)
        return -1;
    for (size_t i = 0; i < n_runs; i++)
        if (nodes_of_run(r, ids[i], out, n, e) < 0)
            return -1;
    return 0;
}

struct replied *jobs_list_remote_login(struct request *r)
{
    struct err e;
    struct job j;
    struct node *nodes;
    size_t n;
    if (find_job(r, &j, &e) < 0 || nodes_used(r, &j, &nodes, &n, &e) < 0)
        return reply_err(r, &e);
    return reply_remote_login(r, nodes, n);
}
