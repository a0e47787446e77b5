/* SPDX-License-Identifier: MIT
 *
 * Reads the live allocations node by node, in slices. A job that begins or ends during this may be
 * on the page or not.
 */
#include "api/metrics/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "api/access/access.h"
#include "api/metrics/metrics.h"
#include "api/metrics/rows.h"
#include "lib/idmap.h"
#include "model/front_words.h"
#include "scheduler/front/front.h"
#include "storage/usage.h"

/* A turn of the loop reads at most this many nodes, and begins no further node after this many
 * parts. */
#define SLICE_NODES 100
#define SLICE_PARTS 200

/* A job's part of a node. */
struct metric_job {
    struct usage_live live;
    const char *kind, *person; /* person "": persons are not shown */
    /* the uuids of its n_gpus GPUs; an element is NULL if the GPU has none */
    const char *const *uuids;
    const int *gpus; /* the numbers of its GPUs on the node */
    size_t n_gpus;
    bool shows_start;
};

struct job_walk {
    struct request *r;
    int64_t *nodes;
    size_t n_nodes, at;
    struct metric_job *parts;
    /* elements of `parts`, which is in the request's arena; smaller arrays before it remain
     * there */
    size_t n, cap;
};

/* --- reading ---------------------------------------------------------------------------------- */

/* The uuid of a GPU. `devices`: the node's GPUs in the order of their numbers, as in the node
 * protocol. */
static const char *uuid_of(struct arena *a, const json_t *devices, int number)
{
    const char *uuid =
        json_string_value(json_object_get(json_array_get(devices, (size_t)number), "uuid"));
    return uuid ? arena_strdup(a, uuid) : NULL;
}

/* Adds the GPUs of a part. `numbers`: for example "0,2"; NULL: all GPUs of the node. */
static void read_gpus(struct arena *a, const struct node *nd, const json_t *devices,
                      const char *numbers, struct metric_job *p)
{
    const char **uuids = arena_alloc(a, ((size_t)nd->has.gpus + 1) * sizeof *uuids);
    int *gpus = arena_alloc(a, ((size_t)nd->has.gpus + 1) * sizeof *gpus);
    const char *at = numbers;
    for (int i = 0; i < nd->has.gpus && (!numbers || *at); i++) {
        gpus[i] = numbers ? (int)strtol(at, (char **)&at, 10) : i;
        uuids[i] = uuid_of(a, devices, gpus[i]);
        p->n_gpus++;
        at += numbers && *at == ',';
    }
    p->uuids = uuids;
    p->gpus = gpus;
}

static const char *person_of(struct request *r, const char *owner)
{
    const struct metrics *m = metrics_of(r);
    struct identity i;
    struct err e;
    if (!m->people || !*owner)
        return "";
    return access_identity(m->access, &r->arena, owner, &i, &e) == 1 ? i.name : owner;
}

static struct metric_job *add_part(struct job_walk *rd)
{
    if (rd->n == rd->cap) {
        size_t cap = rd->cap ? 2 * rd->cap : 256;
        struct metric_job *more = arena_alloc(&rd->r->arena, cap * sizeof *more);
        if (rd->n > 0)
            memcpy(more, rd->parts, rd->n * sizeof *more);
        rd->parts = more;
        rd->cap = cap;
    }
    return memset(&rd->parts[rd->n++], 0, sizeof(struct metric_job));
}

static const char *devices_of(const struct allocation *all, size_t n, int64_t run_id)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].run_id == run_id)
            return all[i].devices;
    return "";
}

static int read_node(struct job_walk *rd, int64_t node_id, struct err *e)
{
    struct arena *a = &rd->r->arena;
    const struct metrics *m = metrics_of(rd->r);
    struct usage_live *live;
    struct allocation *held;
    struct node nd;
    size_t n, n_held;
    int rc = st_node_by_id(m->storage, a, node_id, &nd, e);
    if (rc <= 0)
        return rc;
    if (st_usage_live_on(m->storage, a, node_id, &live, &n, e) < 0 ||
        (n > 0 && st_allocation_of_node(m->storage, a, node_id, &held, &n_held, e) < 0))
        return -1;
    json_auto_t *devices = n > 0 && nd.devices ? json_loads(nd.devices, 0, NULL) : NULL;
    for (size_t i = 0; i < n; i++) {
        struct metric_job *p = add_part(rd);
        p->live = live[i];
        p->kind = front_of(m->fronts, live[i].row.owner_kind)->words->run;
        p->person = person_of(rd->r, live[i].subject.owner);
        read_gpus(a, &nd, devices, devices_of(held, n_held, live[i].row.run_id), p);
    }
    return 0;
}

/* The start of a run is shown once, with its first node. A run that is put back into its queue
 * while the nodes are read may have such a part of two attempts: the part that was read last shows
 * it. Preparation and release tasks have no start: their runs on several nodes would have the same
 * labels. */
static void mark_starts(struct job_walk *rd)
{
    struct id_map last = {0};
    for (size_t i = 0; i < rd->n; i++)
        if (rd->parts[i].live.row.rank == 0)
            id_map_put_number(&last, rd->parts[i].live.row.run_id, (int64_t)i + 1);
    for (size_t i = 0; i < rd->n; i++) {
        const struct usage *u = &rd->parts[i].live.row;
        rd->parts[i].shows_start =
            u->owner_kind != RES_BATCH_CHORE && id_map_number(&last, u->run_id) == (int64_t)i + 1;
    }
    id_map_free(&last);
}

/* --- the table -------------------------------------------------------------------------------- */

#define OF_JOB(p)                                                                                  \
    "kind", (p)->kind, "subscription", (p)->live.subject.subscription, "group",                    \
        (p)->live.subject.group, "home", (p)->live.subject.home, "experiment",                     \
        (p)->live.subject.experiment, "job", (p)->live.row.name

struct integer_text {
    char text[24];
};
static struct integer_text text_of(int64_t n)
{
    struct integer_text out;
    snprintf(out.text, sizeof out.text, "%lld", (long long)n);
    return out;
}

static void info(struct metric_text *t, const void *row)
{
    const struct metric_job *p = row;
    metric_int(t,
               METRIC_LABELS(OF_JOB(p), "index", text_of(p->live.row.idx).text, "node",
                             p->live.row.node_name, "cluster", p->live.subject.pool, "person",
                             p->person),
               1);
}

static void start(struct metric_text *t, const void *row)
{
    const struct metric_job *p = row;
    if (p->shows_start)
        metric_ms(t, METRIC_LABELS(OF_JOB(p), "index", text_of(p->live.row.idx).text),
                  p->live.row.begin_ms);
}

static void gpus(struct metric_text *t, const void *row)
{
    const struct metric_job *p = row;
    metric_ms(t,
              METRIC_LABELS(OF_JOB(p), "index", text_of(p->live.row.idx).text, "node",
                            p->live.row.node_name),
              p->live.row.gpus * (int64_t)1000 / USAGE_GPU_UNIT);
}

static void gpu_job(struct metric_text *t, const void *row)
{
    const struct metric_job *p = row;
    for (size_t i = 0; i < p->n_gpus; i++)
        metric_int(t,
                   METRIC_LABELS("uuid", p->uuids[i], "gpu", text_of(p->gpus[i]).text, "node",
                                 p->live.row.node_name, OF_JOB(p), "index",
                                 text_of(p->live.row.idx).text),
                   1);
}

static const struct row_metric job_metrics[] = {
    {"batchaid_job", METRIC_INFO,
     "A job or task that has nodes, once for each; home: its workspace, or account of Azure Batch; "
     "index: of a member of an array; person: only with metrics.people.",
     info},
    {"batchaid_job_start_timestamp_seconds", METRIC_GAUGE,
     "Since when it has them; not of preparation and release tasks.", start},
    {"batchaid_job_gpus", METRIC_GAUGE, "How many GPUs it has of each.", gpus},
    {"batchaid_gpu_job", METRIC_GAUGE,
     "1 for each GPU that a job or task has: join other metrics with it by uuid.", gpu_job},
    {0},
};

/* --- in slices -------------------------------------------------------------------------------- */

static void next(struct request *r, void *ctx)
{
    struct job_walk *rd = ctx;
    struct err e;
    size_t end = rd->at + SLICE_NODES, parts = rd->n + SLICE_PARTS;
    for (; rd->at < rd->n_nodes && rd->at < end && rd->n < parts; rd->at++)
        if (read_node(rd, rd->nodes[rd->at], &e) < 0) {
            request_finish(r, reply_err(r, &e));
            return;
        }
    if (rd->at < rd->n_nodes) {
        request_again(r, next, rd);
        return;
    }
    mark_starts(rd);
    rows_show(r, job_metrics, rd->parts, sizeof *rd->parts, rd->n);
}

static void begin(struct request *r, void *ctx)
{
    struct job_walk *rd = ctx;
    struct err e;
    if (st_node_ids(metrics_of(r)->storage, &r->arena, &rd->nodes, &rd->n_nodes, &e) < 0)
        request_finish(r, reply_err(r, &e));
    else
        next(r, rd);
}

void metrics_of_jobs(struct request *r)
{
    struct job_walk *rd = arena_alloc(&r->arena, sizeof *rd);
    *rd = (struct job_walk){.r = r};
    request_again(r, begin, rd);
}
