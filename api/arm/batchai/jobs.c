/* SPDX-License-Identifier: MIT
 *
 * Jobs as a kind of resource (api/arm/kind.h); also their lists, their termination, and the SSH
 * addresses of their nodes.
 */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "api/arm/batchai/awaited.h"
#include "api/arm/batchai/batchai.h"
#include "api/arm/batchai/common.h"
#include "api/arm/batchai/home.h"
#include "api/arm/batchai/linked.h"
#include "api/arm/batchai/lookup.h"
#include "api/arm/batchai/render.h"
#include "api/arm/batchai/routes.h"
#include "api/arm/batchai/shown_jobs.h"
#include "api/arm/kind.h"
#include "api/arm/may.h"
#include "api/arm/named_shares.h"
#include "api/arm/operation.h"
#include "model/capacity.h"
#include "model/home.h"
#include "model/schema.h"
#include "model/spec.h"
#include "scheduler/front/batchai/batchai.h"
#include "scheduler/scheduler.h"
#include "storage/storage.h"

/* A copy of the job without the values of its run: a cached text must not contain them, because
 * nothing tells the cache (shown_jobs) when a run changes. */
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

static struct replied *show(struct rm *m, int status)
{
    struct request *r = m->r;
    const struct job own = own_row(m->row);
    int64_t *note = request_note(r);
    struct strbuf out = STRBUF_INIT;
    render_job(r, &own, &out);
    const struct shown_job shown = {out.s, out.len, own.updated_us};
    /* In strict mode the text depends on the time, so it is not cached. */
    int64_t kept = pace_is_on(arm_pace(r), NULL)
                       ? 0
                       : shown_jobs_keep(batchai_of(r)->shown_jobs, own.id, r->version, &shown);
    if (note)
        *note = kept;
    reply_etag(r, own.updated_us);
    return reply_json_text(r, status, &out);
}

#ifdef __SANITIZE_ADDRESS__
/* In test builds, makes each cached text again and compares both. */
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

/* Replies with the text that the same request got before, if the job's row has not changed: then
 * the job and its parents still exist. NULL: the job must be read from the database. */
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

/* Refuses a job that needs more nodes than the cluster can ever have: it would wait forever. */
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

/* Refuses a job that needs a larger part of each node than any node has. */
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

/* --- submit ----------------------------------------------------------------------------------- */

/* Further data of a new job; rm.parent points to it. */
struct job_making {
    struct workspace w;
    struct experiment x;
    struct scope scope;
    struct cluster c;
    struct mount_list mounts; /* the job's own, without keys */
    struct dependency *awaited;
    size_t n_awaited;
};

static int insert(struct rm *m, struct err *e)
{
    struct job_making *n = m->parent;
    struct storage *st = arm_of(m->r)->storage;
    struct job *j = m->row;
    const char *shares;
    if (home_make_experiment(m->r, &n->w, &n->x, e) < 0 ||
        make_named_shares(m->r, &n->c, &n->mounts, &shares, e) < 0)
        return -1;
    j->experiment_id = n->x.id;
    if (st_job_insert(st, j, m->given.secrets_text, &j->id, e) < 0)
        return -1;
    m->id = j->id;
    const struct event ev = {.kind = RES_JOB, .resource_id = j->id, .to = (int)j->exec_state};
    if (tell_made(m->r, shares, "job", j->name, &ev, e) < 0)
        return -1;
    for (size_t i = 0; i < n->n_awaited; i++)
        n->awaited[i].owner_id = j->id;
    return st_dependency_add(st, &m->r->arena, n->awaited, n->n_awaited, m->r->now_us, e);
}

static int fill(struct rm *m, struct err *e)
{
    struct request *r = m->r;
    struct job_making *n = m->parent;
    const struct cluster *c = &n->c;
    struct job *j = m->row;
    char *guid = arena_alloc(&r->arena, GUID_SIZE);
    struct run_spec spec = {0};
    assert(m->given.doc_text); /* the stored text and the decoded one are equal */
    request_guid(r, guid);
    schema_decode(&schema_job, &r->arena, m->given.doc, &spec);
    *j = (struct job){.cluster_id = c->id,
                      .name = m->name,
                      .guid = guid,
                      .doc = m->given.doc_text,
                      .cluster_ref = spec.pool_ref,
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
    n->mounts = spec.mounts;
    if (spec.wishes.array) {
        int *numbers = arena_alloc(&r->arena, WISH_ARRAY_MAX * sizeof *numbers);
        (void)wish_array(spec.wishes.array, numbers);
        j->numbers = numbers;
    }
    if (check_node_count(r, c, j->node_count, e) < 0 || check_part(r, c, j, e) < 0)
        return -1;
    return find_awaited(r, &n->x, j->name, &spec.wishes, &n->awaited, &n->n_awaited, e);
}

/* Checks the job's own mounts with their keys. The cluster's mounts were checked when the cluster
 * was created. */
static int check_mounts(struct rm *m, struct err *e)
{
    const struct job_making *n = m->parent;
    const struct job *j = m->row;
    struct run_spec spec = {0};
    if (n->mounts.n == 0)
        return 0;
    int rc = job_spec_decode(&m->r->arena, j, m->given.secrets_text, &spec, e);
    if (rc == 0)
        rc = check_linked_mounts(m->r, &spec.mounts, j->cluster_ref, e);
    if (rc == 0)
        rc = check_named_shares(m->r, &n->c, &spec.mounts, e);
    run_spec_wipe(&spec);
    return rc;
}

static int check_container(struct rm *m, struct err *e)
{
    const struct job *j = m->row;
    const json_t *properties = json_object_get(m->given.doc, "properties");
    return json_object_get(properties, "containerSettings")
               ? check_linked_container(m->r, j->cluster_ref, e)
               : 0;
}

/* Replaces the cluster's id in the document by the daemon's own spelling, so that comparisons do
 * not depend on the client's spelling. */
static int normalise_cluster_id(struct request *r, json_t *doc, struct cluster *c, struct err *e)
{
    json_t *ref = json_object_get(json_object_get(doc, "properties"), "cluster");
    if (find_cluster_by_ref(r, json_text_at(ref, "id"), c, e) < 0)
        return -1;
    const char *rendered = render_id(r, &c->scope, "clusters", c->name);
    json_object_set_new_nocheck(ref, "id", json_string_nocheck(rendered)); /* is UTF-8 */
    return 0;
}

/* Spells the cluster's id like the job's stored document if both are the same id. */
static void spell_cluster_id(json_t *doc, const struct job *j)
{
    json_t *ref = json_object_get(json_object_get(doc, "properties"), "cluster");
    const char *given = json_text_at(ref, "id");
    if (given && j->cluster_ref && strcasecmp(given, j->cluster_ref) == 0)
        json_object_set_new_nocheck(ref, "id", json_string_nocheck(j->cluster_ref));
}

/* Writes the document, with the mounts that the cluster has now and the job will have. */
static void write_doc(struct request *r, struct accepted *a, const struct cluster *c)
{
    static const char *const path[] = {"properties", "nodeSetup", "mountVolumes", NULL};
    size_t n;
    const char *mounts = stored_member(c->doc, path, &n);
    accepted_write(r, a);
    if (mounts)
        accepted_add(r, a, JOB_DOC_CLUSTER_MOUNTS, mounts, n);
}

/* Checks a location in the body; only the old api-versions have one. */
static int check_location(struct request *r, const struct accepted *a, const struct cluster *c,
                          struct err *e)
{
    if (!json_object_get(a->doc, "location"))
        return 0;
    const json_t *doc = request_own(r, json_loads(c->doc, 0, NULL));
    const char *at = json_text_at(doc, "location");
    return check_location_given(r, a, "cluster", at ? at : c->scope.location, e);
}

static int prepare(struct rm *m, struct err *e)
{
    const struct job_making *n = m->parent;
    const struct cluster *c = &n->c;
    if (check_location(m->r, &m->given, c, e) < 0)
        return -1;
    write_doc(m->r, &m->given, c);
    if (check_alive("cluster", c->name, c->prov_state, e) < 0 ||
        arm_check_local(m->r, c->vm_size, c->vm_priority, e) < 0 || fill(m, e) < 0 ||
        check_mounts(m, e) < 0)
        return -1;
    return check_container(m, e);
}

static struct replied *made(struct rm *m)
{
    const struct job_making *n = m->parent;
    const struct job *j = m->row;
    LOG_INFO(m->r->config->log, "job.created", LF_STR("job", j->name), LF_STR("cluster", n->c.name),
             LF_INT("nodes", j->node_count), LF_INT("priority", j->priority),
             LF_STR("by", m->r->who->name));
    batchai_job_queued(arm_of(m->r)->front, &n->c, j);
    return reply_accepted(m->r, m->scope, m->guid);
}

static int step_experiment(struct rm *m, struct err *e)
{
    struct job_making *n = arena_alloc(&m->r->arena, sizeof *n);
    m->parent = n;
    if (home_experiment(m->r, &n->w, &n->x, e) < 0)
        return -1;
    n->scope = n->x.scope;
    n->scope.experiment = n->x.name;
    m->scope = &n->scope;
    m->in_group = request_is_flat(m->r);
    return 0;
}

static int seek(struct rm *m, struct err *e)
{
    struct job_making *n = m->parent;
    struct request *r = m->r;
    int rc = st_job_get(arm_of(r)->storage, &r->arena, n->x.id, m->name, m->row, e);
    if (rc < 0)
        return -1;
    if (normalise_cluster_id(r, m->given.doc, &n->c, e) == 0)
        return rc;
    /* A job stays when its cluster is deleted, so a repeated PUT must not fail because the cluster
     * is missing. */
    if (rc > 0)
        spell_cluster_id(m->given.doc, m->row);
    return rc > 0 ? rc : -1;
}

/* A PUT of an existing job is accepted only if it changes nothing. */
static int change(struct rm *m, struct err *e)
{
    struct request *r = m->r;
    const struct job *j = m->row;
    const char *secrets;
    if (st_job_secrets(arm_of(r)->storage, &r->arena, j->id, &secrets, e) < 0)
        return -1;
    return check_immutable(m, j->doc, secrets, e);
}

/* --- the kind --------------------------------------------------------------------------------- */

static int find(struct rm *m, struct err *e)
{
    return find_job(m->r, m->row, e);
}

static void render(struct request *r, const void *row, struct strbuf *out)
{
    render_job(r, row, out);
}

static int list(struct request *r, const struct rm_query *q, void **rows, size_t *n, struct err *e)
{
    struct storage *st = arm_of(r)->storage;
    struct job_rows found = {NULL, 0};
    int rc =
        q->above
            ? st_job_list_shown(st, &r->arena, q->above,
                                &(struct st_page){.after = q->after, .limit = q->limit}, &found, e)
            : st_job_list_named(st, &r->arena, arm_subscription(r), HOME_WORKSPACE, HOME_EXPERIMENT,
                                &(struct st_page){.after = q->after, .limit = q->limit}, &found, e);
    for (size_t i = 0; rc == 0 && q->scope && i < found.n; i++)
        found.items[i].scope = *q->scope;
    *rows = found.items;
    *n = found.n;
    return rc;
}

static rm_step *const steps[] = {rm_step_body, step_experiment, batchai_step_name, NULL};

const struct rm_kind job_kind = {
    BATCHAI_KIND,
    .what = "job",
    .param = "job",
    .kind = RES_JOB,
    .columns = RM_COLUMNS(struct job),
    .schema = &schema_job,
    .steps = steps,
    .seek = seek,
    .prepare = prepare,
    .insert = insert,
    .operation = true,
    .whole = true,
    .change = change,
    .made = made,
    .find = find,
    .show = show,
    .render = render,
    .list = list,
};

struct replied *jobs_get(struct request *r)
{
    struct replied *again = show_again(r);
    return again ? again : rm_get(r);
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Lists jobs, for paths with and without a workspace. */
struct replied *jobs_list(struct request *r)
{
    struct err e;
    struct experiment x;
    int rc = seek_experiment(r, &x, &e);
    if (rc < 0)
        return reply_err(r, &e);
    /* Without the home experiment (model/home.h) there are no jobs: NO_ROW matches none. */
    struct rm m = rm_begin(r);
    struct rm_query query = {.above = NO_ROW};
    if (rc > 0) {
        struct scope *scope =
            memcpy(arena_alloc(&r->arena, sizeof x.scope), &x.scope, sizeof x.scope);
        scope->experiment = x.name;
        query = (struct rm_query){.above = x.id, .scope = scope};
    }
    return rm_list_below(&m, &query);
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

/* Reads the nodes that the job has, and its former nodes that still exist. */
static int nodes_used(struct request *r, const struct job *j, struct node **out, size_t *n,
                      struct err *e)
{
    struct storage *st = arm_of(r)->storage;
    int64_t *ids;
    size_t n_ids;
    if (st_node_ids_used_by(st, &r->arena, RES_JOB, j->id, &ids, &n_ids, e) < 0)
        return -1;
    *out = arena_alloc(&r->arena, (n_ids + 1) * sizeof **out);
    *n = 0;
    for (size_t i = 0; i < n_ids; i++) {
        int rc = st_node_by_id(st, &r->arena, ids[i], &(*out)[*n], e);
        if (rc < 0)
            return -1;
        *n += rc > 0;
    }
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
