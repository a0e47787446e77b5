/* SPDX-License-Identifier: MIT
 *
 * Birth, end and turns of the scheduler, and its small answers to api/.
 */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/strbuf.h"
#include "model/machines.h"
#include "scheduler/file_server.h"
#include "scheduler/outputs.h"
#include "scheduler/sched_priv.h"

/* Reconciles per turn: some 50 us each, so that a turn stays well under 10 ms and requests are
 * answered meanwhile. What is left is done in the next turn, which follows at once. */
#define RECONCILES_PER_TURN 100

/* The one id of WAKE_OPERATIONS. */
#define ALL_OPERATIONS 1

/* --- birth and end -------------------------------------------------------------------------- */

static const char *const *copy_list(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    char **copy = xcalloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = xstrdup(list[i]);
    return (const char *const *)copy;
}

static void free_list(const char *const *list)
{
    for (size_t i = 0; list[i]; i++)
        free((char *)list[i]);
    free((char **)list);
}

int sched_create(const struct sched_config *c, struct sched **out, struct err *e)
{
    struct sched *s = xcalloc(1, sizeof *s);
    int rc = uv_timer_init(c->loop, &s->timer);
    if (rc != 0) {
        free(s);
        return err_set(e, ERR_INTERNAL, NULL, "timer of the scheduler: %s", uv_strerror(rc));
    }
    s->cfg = *c;
    s->cfg.agent_path = xstrdup(c->agent_path);
    s->cfg.nodes_dir = xstrdup(c->nodes_dir);
    s->cfg.storage_dir = xstrdup(c->storage_dir);
    s->cfg.local_vm_sizes = copy_list(c->local_vm_sizes);
    s->st = c->storage;
    s->log = c->log;
    s->timer.data = s;
    s->random = uv_hrtime();
    sched_ref(s); /* the timer's */
    *out = s;
    return 0;
}

static void sched_free(struct sched *s)
{
    assert(s->nodes.n == 0 && s->runs.n == 0);
    machines_free(s);
    for (int k = 0; k < WAKE_KINDS; k++)
        id_map_free(&s->wakes[k]);
    id_map_free(&s->nodes);
    id_map_free(&s->runs);
    id_map_free(&s->allocating);
    id_map_free(&s->short_clusters);
    file_servers_free(s);
    id_map_free(&s->looks);
    free(s->deadlines);
    free((char *)s->cfg.agent_path);
    free((char *)s->cfg.nodes_dir);
    free((char *)s->cfg.storage_dir);
    free_list(s->cfg.local_vm_sizes);
    free(s);
}

void sched_unref(struct sched *s)
{
    assert(s->refs > 0);
    if (--s->refs > 0)
        return;
    assert(s->stopping);
    void (*stopped)(void *) = s->stopped;
    void *ctx = s->stopped_ctx;
    sched_free(s);
    stopped(ctx);
}

static void on_timer_closed(uv_handle_t *h)
{
    sched_unref(h->data);
}

void sched_stop(struct sched *s, void (*cb)(void *ctx), void *ctx)
{
    assert(!s->stopping);
    s->stopping = true;
    s->stopped = cb;
    s->stopped_ctx = ctx;
    /* Requests under way are answered while their link closes, so their runs go after that. */
    for (size_t i = 0; i < s->nodes.n; i++)
        node_rt_close(s->nodes.e[i].p);
    while (s->runs.n > 0)
        job_run_free(s->runs.e[0].p);
    for (size_t i = s->nodes.n; i-- > 0;) {
        struct node_rt *rt = s->nodes.e[i].p;
        if (rt->link_state == LINK_NONE)
            node_rt_free(rt);
    }
    file_servers_stop(s);
    uv_close((uv_handle_t *)&s->timer, on_timer_closed);
}

/* Nodes first, so that the runs find what they have slots on. */
static int wake_known(struct sched *s, struct arena *a, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_node_ids(s->st, a, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct node nd;
        int found = st_node_by_id(s->st, a, ids[i], &nd, e);
        if (found < 0)
            return -1;
        if (found == 0)
            continue;
        node_rt_get(s, &nd);
        wake(s, WAKE_NODE, nd.id);
        wake(s, WAKE_JOB, nd.job_id);
    }
    if (st_job_active_ids(s->st, a, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        wake(s, WAKE_JOB, ids[i]);
    if (st_cluster_ids(s->st, a, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        wake(s, WAKE_CLUSTER, ids[i]);
    return file_servers_resume(s, a, e);
}

int sched_start(struct sched *s, struct err *e)
{
    struct arena a;
    arena_init(&a);
    int rc = machines_load(s, &a, e);
    if (rc == 0)
        rc = wake_known(s, &a, e);
    arena_free(&a);
    if (rc != 0)
        return err_prefix(e, "starting the scheduler");
    s->started_us = sched_now(s);
    s->wake_deletions = true;
    wake(s, WAKE_OPERATIONS, ALL_OPERATIONS);
    node_find_orphans(s);
    wake_arm(s);
    return 0;
}

/* --- operations that ended ------------------------------------------------------------------ */

/* Nobody polls for what ended a day ago. */
#define OPERATION_KEPT_US (24LL * 3600 * 1000000)
#define EXPIRE_EVERY_US   (600LL * 1000000)
/* Per pass: some 10 us each; a pass follows at once while there are more. */
#define EXPIRE_PER_PASS 500

static void operations_expire(struct sched *s, int64_t id)
{
    int64_t now = sched_now(s);
    struct err e = {0};
    int gone = 0;
    if (st_op_expire(s->st, now - OPERATION_KEPT_US, EXPIRE_PER_PASS, &gone, &e) != 0)
        LOG_ERROR(s->log, "operations.not_expired", LF_STR("why", e.msg));
    if (gone == EXPIRE_PER_PASS)
        wake(s, WAKE_OPERATIONS, id);
    else
        wake_at(s, WAKE_OPERATIONS, id, now + EXPIRE_EVERY_US);
}

/* --- turns ---------------------------------------------------------------------------------- */

/* Clusters come last: what jobs and nodes did in this turn is in their rows by then. */
static const struct {
    enum wake_kind kind;
    void (*reconcile)(struct sched *s, int64_t id);
} order[] = {
    {WAKE_JOB, job_reconcile},
    {WAKE_NODE, node_reconcile},
    {WAKE_LOOK, looks_reconcile},
    {WAKE_CLUSTER, cluster_reconcile},
    {WAKE_OPERATIONS, operations_expire},
    {WAKE_FILE_SERVER, file_server_reconcile},
};

static bool reconcile_one(struct sched *s)
{
    if (s->wake_deletions) {
        s->wake_deletions = false;
        deletions_reconcile(s);
        return true;
    }
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        int64_t id;
        if (!id_map_pop(&s->wakes[order[i].kind], &id))
            continue;
        order[i].reconcile(s, id);
        return true;
    }
    return false;
}

void sched_turn(struct sched *s)
{
    if (s->stopping)
        return;
    for (int i = 0; i < RECONCILES_PER_TURN; i++)
        if (!reconcile_one(s))
            break;
    wake_arm(s);
}

void sched_wake_cluster(struct sched *s, int64_t cluster_id)
{
    wake(s, WAKE_CLUSTER, cluster_id);
}

void sched_wake_deletions(struct sched *s)
{
    s->wake_deletions = !s->stopping;
}

/* --- terminate ------------------------------------------------------------------------------ */

static int terminate_queued(struct sched *s, const struct job *j, struct err *e)
{
    const struct failure f = {.code = "JobTerminated",
                              .message = "The specified job has been terminated by the user",
                              .exit_code = -1};
    return job_fail_queued(s, j, &f, e);
}

static int terminate_running(struct sched *s, const struct job *j, struct err *e)
{
    const struct st_job_move m = {.id = j->id,
                                  .from = j->exec_state,
                                  .to = job_next(j->exec_state, JOB_EV_TERMINATE),
                                  .now_us = sched_now(s)};
    if (st_job_move(s->st, &m, e) != 0)
        return -1;
    LOG_INFO(s->log, "job.terminating", LF_STR("job", j->name), LF_INT("job_id", j->id));
    sched_after_durable(s, j->id, effect_wake_job);
    return 0;
}

int sched_job_terminate(struct sched *s, int64_t job_id, struct err *e)
{
    struct arena a;
    arena_init(&a);
    struct job j;
    int rc = st_job_by_id(s->st, &a, job_id, &j, e);
    if (rc == 0)
        rc = err_set(e, ERR_JOB_NOT_FOUND, NULL, "there is no job with id %lld", (long long)job_id);
    if (rc < 0)
        goto out;
    switch (j.exec_state) {
    case EXEC_QUEUED:
        rc = terminate_queued(s, &j, e) == 0 ? 1 : -1;
        break;
    case EXEC_RUNNING:
        rc = terminate_running(s, &j, e) == 0 ? 1 : -1;
        break;
    case EXEC_TERMINATING:
        rc = 1;
        break;
    case EXEC_SUCCEEDED:
    case EXEC_FAILED:
        rc = 0;
        break;
    }
    /* The operation's row may be written after this call: it is finished in this turn's end. */
    if (rc >= 0)
        wake(s, WAKE_JOB, job_id);
out:
    arena_free(&a);
    return rc;
}

/* --- small answers -------------------------------------------------------------------------- */

static bool among(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcasecmp(*list, name) == 0)
            return true;
    return false;
}

/* How many nodes of this kind a cluster can ever have; 0 if the size is not served here. */
static int capacity(const struct sched *s, const char *vm_size, enum vm_priority priority,
                    bool *on_machines)
{
    int serving, free_now;
    machines_count(s, vm_size, priority, &serving, &free_now);
    *on_machines = serving > 0;
    if (serving > 0)
        return serving;
    const char *const *sizes = s->cfg.local_vm_sizes;
    return !sizes[0] || among(sizes, vm_size) ? s->cfg.local_nodes : 0;
}

/* As many sizes as a message names. */
#define SIZES_MAX 30

struct sizes {
    const char *names[SIZES_MAX + 1]; /* NULL-terminated */
    size_t n;
};

static void add_sizes(struct sizes *served, const char *const *more)
{
    for (; more && *more; more++)
        if (served->n < SIZES_MAX && !among(served->names, *more))
            served->names[served->n++] = *more;
}

static int refuse_size(const struct sched *s, const char *vm_size, enum vm_priority priority,
                       struct err *e)
{
    struct sizes served = {0};
    if (s->cfg.local_nodes > 0)
        add_sizes(&served, s->cfg.local_vm_sizes);
    for (size_t i = 0; i < s->n_machines; i++) {
        const struct site_machine *site = s->machines[i].site;
        if (site && site->group->priority == priority)
            add_sizes(&served, site->group->vm_sizes);
    }
    struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < served.n; i++)
        strbuf_printf(&text, "%s%s", i > 0 ? ", " : "", served.names[i]);
    err_set(e, ERR_INVALID_PROPERTY, "properties.vmSize",
            "vmSize %.100s is not served here with vmPriority %s; the sizes served are: %s",
            vm_size, enum_to_name(vm_priority_names, (int)priority), text.len ? text.s : "none");
    strbuf_free(&text);
    return -1;
}

int sched_check_scale(const struct sched *s, const char *vm_size, enum vm_priority priority,
                      const struct scale *scale, struct err *e)
{
    bool on_machines;
    int most = capacity(s, vm_size, priority, &on_machines);
    if (most == 0)
        return refuse_size(s, vm_size, priority, e);
    bool automatic = scale->kind == SCALE_AUTO;
    int want = automatic ? scale->maximum : scale->target;
    if (on_machines || want <= most)
        return 0;
    return err_set(e, ERR_QUOTA,
                   automatic ? "properties.scaleSettings.autoScale.maximumNodeCount"
                             : "properties.scaleSettings.manual.targetNodeCount",
                   "%d nodes of size %s are more than there can ever be here: the limit is %d",
                   want, vm_size, most);
}

int sched_most_nodes(const struct sched *s, const struct cluster *c)
{
    bool on_machines;
    int most = capacity(s, c->vm_size, c->vm_priority, &on_machines);
    bool automatic = c->scale.kind == SCALE_AUTO;
    int wish = automatic ? c->scale.maximum : c->scale.target;
    if (on_machines)
        return automatic || wish > most ? wish : most;
    return automatic && wish < most ? wish : most;
}

static char *lower(struct arena *a, const char *s)
{
    char *copy = arena_strdup(a, s ? s : "");
    for (char *p = copy; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return copy;
}

const char *sched_share_path(const char *storage_dir, struct arena *a, const struct mount_volume *m)
{
    return arena_printf(a, "%s/%s/%s/%s", storage_dir, lower(a, m->account),
                        m->kind == MOUNT_AZURE_BLOB ? "blobs" : "files", lower(a, m->share));
}
