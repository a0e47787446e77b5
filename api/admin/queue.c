/* SPDX-License-Identifier: MIT
 *
 * The queues of all clusters: running jobs with their limits, waiting jobs with their reasons and
 * expected starts. `batchaid queue` is the client.
 */
#include <string.h>
#include <strings.h>

#include "api/admin/routes.h"
#include "api/admin/seen_jobs.h"
#include "api/admin/waits.h"
#include "api/http/request.h"
#include "storage/storage.h"

#define QUEUE_DEFAULT 200
#define QUEUE_MAX     10000
#define RUNNING_MAX   1000000

/* What is shown of each cluster, and where it is put. */
struct part {
    long waiting, running;
    json_t *value, *left_out; /* borrowed */
};

static json_t *names(const struct queue_running *run)
{
    json_t *out = json_array();
    for (int i = 0; i < run->n_nodes; i++)
        json_array_append_new(out, json_string(run->nodes[i]));
    return out;
}

/* 1: the caller may see the job of this run, and asks for it; 0; or -1. */
static int is_asked_for(struct request *r, int64_t run_id, struct job *j, struct run *row,
                        struct err *e)
{
    int rc = seen_job_of_run(r, run_id, j, row, e);
    return rc > 0 ? seen_job_is_by(r, j) : rc;
}

static void add_running(struct request *r, const struct queue_running *run, const struct job *j,
                        const struct run *row, json_t *out)
{
    json_t *o = seen_run_render(r, j, row);
    json_object_set_new(o, "nodes", names(run));
    if (run->limit_us > 0 && !run->releasing)
        json_object_set_new(o, "limitTime", seen_time(run->limit_us));
    json_array_append_new(out, o);
}

static int add_waiting(struct request *r, const struct queue_view *v, size_t i, json_t *out,
                       struct err *e)
{
    struct job j;
    struct run row;
    const struct queue_waiting *w = &v->waiting[i];
    int rc = is_asked_for(r, w->run.id, &j, &row, e);
    if (rc <= 0)
        return rc;
    const char *what = waits_for(r, v, i, e);
    if (!what)
        return -1;
    json_t *o = seen_run_render(r, &j, &row);
    json_object_set_new(o, "place", json_integer((json_int_t)i + 1));
    json_object_set_new(o, "waitsFor", json_string(what));
    if (w->verdict.start_us > 0)
        json_object_set_new(o, "expectedStartTime", seen_time(w->verdict.start_us));
    json_array_append_new(out, o);
    return 0;
}

static int add_held(struct request *r, const struct run *run, json_t *out, struct err *e)
{
    struct job j;
    struct run row;
    int rc = is_asked_for(r, run->id, &j, &row, e);
    if (rc <= 0)
        return rc;
    const char *what = waits_for_ends(r, run, e);
    if (!what)
        return -1;
    json_t *o = seen_run_render(r, &j, &row);
    json_object_set_new(o, "waitsFor", json_string(what));
    json_array_append_new(out, o);
    return 0;
}

/* The first running jobs; *cut: how many more there are, of those that the caller may see. */
static int add_all_running(struct request *r, const struct queue_view *v, const struct part *p,
                           json_int_t *cut, struct err *e)
{
    struct job j;
    struct run row;
    long shown = 0;
    *cut = 0;
    for (size_t i = 0; i < v->n_running; i++) {
        int rc = is_asked_for(r, v->running[i].run_id, &j, &row, e);
        if (rc < 0)
            return -1;
        if (rc > 0 && shown++ < p->running)
            add_running(r, &v->running[i], &j, &row, p->value);
        else if (rc > 0)
            (*cut)++;
    }
    return 0;
}

static int add_pool(struct request *r, int64_t pool_id, const struct part *p, struct err *e)
{
    struct queue_view v;
    json_int_t cut;
    size_t before = json_array_size(p->value);
    const char *wanted = request_query(r, "cluster");
    int rc = queue_view(admin_of(r)->sched, &r->arena, pool_id, (int)p->waiting, &v, e);
    if (rc <= 0 || (wanted && strcasecmp(wanted, v.name) != 0))
        return rc < 0 ? -1 : 0;
    if (add_all_running(r, &v, p, &cut, e) < 0)
        return -1;
    for (size_t i = 0; i < v.n_waiting; i++)
        if (add_waiting(r, &v, i, p->value, e) < 0)
            return -1;
    for (size_t i = 0; i < v.n_held; i++)
        if (add_held(r, &v.held[i], p->value, e) < 0)
            return -1;
    /* Of a cluster of which the caller sees nothing, nothing is said. */
    bool sees = json_array_size(p->value) > before || cut > 0;
    if (sees && (cut > 0 || v.more))
        json_array_append_new(p->left_out, json_pack("{s:s, s:I, s:b}", "cluster", v.name,
                                                     "running", cut, "waiting", v.more));
    return 0;
}

struct replied *queue_list(struct request *r)
{
    int64_t *ids;
    struct err e;
    size_t n;
    struct part p = {.value = request_own(r, json_array()),
                     .left_out = request_own(r, json_array())};
    if (request_query_int(r, "max", 1, QUEUE_MAX, QUEUE_DEFAULT, &p.waiting, &e) < 0 ||
        request_query_int(r, "running", 0, RUNNING_MAX, RUNNING_MAX, &p.running, &e) < 0 ||
        st_pool_ids(admin_of(r)->storage, &r->arena, &ids, &n, &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < n; i++)
        if (add_pool(r, ids[i], &p, &e) < 0)
            return reply_err(r, &e);
    return reply_json(r, 200, json_pack("{s:O, s:O}", "value", p.value, "leftOut", p.left_out));
}
