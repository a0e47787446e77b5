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

static json_t *names(const struct queue_running *run)
{
    json_t *out = json_array();
    for (int i = 0; i < run->n_nodes; i++)
        json_array_append_new(out, json_string(run->nodes[i]));
    return out;
}

static int add_running(struct request *r, const struct queue_running *run, json_t *out,
                       struct err *e)
{
    struct job j;
    struct run row;
    int rc = seen_job_of_run(r, run->run_id, &j, &row, e);
    if (rc <= 0 || !seen_job_is_by(r, &j))
        return rc < 0 ? -1 : 0;
    json_t *o = seen_run_render(r, &j, &row);
    json_object_set_new(o, "nodes", names(run));
    if (run->limit_us > 0 && !run->releasing)
        json_object_set_new(o, "limitTime", seen_time(run->limit_us));
    json_array_append_new(out, o);
    return 0;
}

static int add_waiting(struct request *r, const struct queue_view *v, size_t i, json_t *out,
                       struct err *e)
{
    struct job j;
    struct run row;
    const struct queue_waiting *w = &v->waiting[i];
    int rc = seen_job_of_run(r, w->run.id, &j, &row, e);
    if (rc <= 0 || !seen_job_is_by(r, &j))
        return rc < 0 ? -1 : 0;
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
    int rc = seen_job_of_run(r, run->id, &j, &row, e);
    if (rc <= 0 || !seen_job_is_by(r, &j))
        return rc < 0 ? -1 : 0;
    const char *what = waits_for_ends(r, run, e);
    if (!what)
        return -1;
    json_t *o = seen_run_render(r, &j, &row);
    json_object_set_new(o, "waitsFor", json_string(what));
    json_array_append_new(out, o);
    return 0;
}

static int add_pool(struct request *r, int64_t pool_id, int max, json_t *out, struct err *e)
{
    struct queue_view v;
    const char *wanted = request_query(r, "cluster");
    int rc = queue_view(admin_of(r)->sched, &r->arena, pool_id, max, &v, e);
    if (rc <= 0 || (wanted && strcasecmp(wanted, v.name) != 0))
        return rc < 0 ? -1 : 0;
    for (size_t i = 0; i < v.n_running; i++)
        if (add_running(r, &v.running[i], out, e) < 0)
            return -1;
    for (size_t i = 0; i < v.n_waiting; i++)
        if (add_waiting(r, &v, i, out, e) < 0)
            return -1;
    for (size_t i = 0; i < v.n_held; i++)
        if (add_held(r, &v.held[i], out, e) < 0)
            return -1;
    return 0;
}

struct replied *queue_list(struct request *r)
{
    int64_t *ids;
    struct err e;
    size_t n;
    long max;
    if (request_query_int(r, "max", 1, QUEUE_MAX, QUEUE_DEFAULT, &max, &e) < 0 ||
        st_pool_ids(admin_of(r)->storage, &r->arena, &ids, &n, &e) < 0)
        return reply_err(r, &e);
    json_t *list = request_own(r, json_array());
    for (size_t i = 0; i < n; i++)
        if (add_pool(r, ids[i], (int)max, list, &e) < 0)
            return reply_err(r, &e);
    return reply_json(r, 200, json_pack("{s:O}", "value", list));
}
