/* SPDX-License-Identifier: MIT
 *
 * The queues of all clusters: running jobs with their limits, waiting jobs with their reasons and
 * expected starts. `batchaid queue` is the client. A cluster is looked at in one turn of the loop;
 * its jobs are shown in slices, because there may be many.
 */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "api/admin/routes.h"
#include "api/admin/seen_jobs.h"
#include "api/admin/waits.h"
#include "api/http/slices.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define QUEUE_DEFAULT 200
#define QUEUE_MAX     10000
#define RUNNING_MAX   1000000

/* The rows of a cluster, in this order. The last one says what was left out. */
enum row_kind { ROW_RUNNING, ROW_WAITING, ROW_HELD, ROW_END };
struct row {
    enum row_kind kind;
    size_t i; /* in its part of the view */
};

struct queue {
    struct request *r;
    struct page *page;
    const char *wanted;    /* NULL: all clusters */
    long waiting, running; /* to show of each cluster */
    int looked_at;         /* waiting jobs of each cluster: more, if not all are asked for */
    int64_t *ids;          /* of the pools */
    size_t n_ids, at;
    /* Of the cluster whose rows are shown: */
    struct queue_view v;
    long shown[ROW_END]; /* by kind */
    json_int_t cut;      /* of the running jobs */
    bool more, sees;
    json_t *left_out; /* borrowed */
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

static void add(struct queue *q, json_t *row)
{
    q->sees = true;
    page_add(q->page, "", row);
}

/* Only jobs that the caller asks for count, so that none hides behind those of others. */
static bool is_cut(struct queue *q, enum row_kind kind, long most)
{
    bool is = q->shown[kind]++ >= most;
    q->sees = q->sees || is;
    return is;
}

/* The first running jobs are shown, the others counted. */
static int add_running(struct queue *q, size_t i, struct err *e)
{
    struct job j;
    struct run row;
    const struct queue_running *run = &q->v.running[i];
    int rc = is_asked_for(q->r, run->run_id, &j, &row, e);
    if (rc <= 0)
        return rc;
    if (is_cut(q, ROW_RUNNING, q->running)) {
        q->cut++;
        return 0;
    }
    json_t *o = seen_run_render(q->r, &j, &row);
    json_object_set_new(o, "nodes", names(run));
    if (run->limit_us > 0 && !run->releasing)
        json_object_set_new(o, "limitTime", seen_time(run->limit_us));
    add(q, o);
    return 0;
}

static int add_waiting(struct queue *q, size_t i, struct err *e)
{
    struct job j;
    struct run row;
    const struct queue_waiting *w = &q->v.waiting[i];
    int rc = is_asked_for(q->r, w->run.id, &j, &row, e);
    if (rc <= 0)
        return rc;
    if (is_cut(q, ROW_WAITING, q->waiting)) {
        q->more = true;
        return 0;
    }
    const char *what = waits_for(q->r, &q->v, i, e);
    if (!what)
        return -1;
    json_t *o = seen_run_render(q->r, &j, &row);
    json_object_set_new(o, "place", json_integer((json_int_t)i + 1));
    json_object_set_new(o, "waitsFor", json_string(what));
    if (w->verdict.start_us > 0)
        json_object_set_new(o, "expectedStartTime", seen_time(w->verdict.start_us));
    add(q, o);
    return 0;
}

static int add_held(struct queue *q, size_t i, struct err *e)
{
    struct job j;
    struct run row;
    const struct run *run = &q->v.held[i];
    int rc = is_asked_for(q->r, run->id, &j, &row, e);
    if (rc <= 0)
        return rc;
    if (is_cut(q, ROW_HELD, q->waiting)) {
        q->more = true;
        return 0;
    }
    const char *what = waits_for_ends(q->r, run, e);
    if (!what)
        return -1;
    json_t *o = seen_run_render(q->r, &j, &row);
    json_object_set_new(o, "waitsFor", json_string(what));
    add(q, o);
    return 0;
}

/* Of a cluster of which the caller sees nothing, nothing is said. */
static int add_left_out(struct queue *q, size_t i, struct err *e)
{
    (void)i, (void)e;
    if (q->sees && (q->cut > 0 || q->more || q->v.more))
        json_array_append_new(q->left_out,
                              json_pack("{s:s, s:I, s:b}", "cluster", q->v.name, "running", q->cut,
                                        "waiting", q->more || q->v.more));
    return 0;
}

/* --- slices ----------------------------------------------------------------------------------- */

static void add_rows(struct row **at, enum row_kind kind, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *(*at)++ = (struct row){kind, i};
}

/* The rows of the next cluster. */
static int fetch(struct slices *s, struct err *e)
{
    struct queue *q = s->of;
    struct arena *a = &q->r->arena;
    s->at_end = q->at == q->n_ids;
    if (s->at_end)
        return 0;
    int rc = queue_view(admin_of(q->r)->sched, a, q->ids[q->at++], q->looked_at, &q->v, e);
    if (rc <= 0 || (q->wanted && strcasecmp(q->wanted, q->v.name) != 0))
        return rc < 0 ? -1 : 0;
    memset(q->shown, 0, sizeof q->shown);
    q->cut = 0;
    q->more = q->sees = false;
    size_t n = q->v.n_running + q->v.n_waiting + q->v.n_held + 1;
    struct row *rows = arena_alloc(a, n * sizeof *rows), *at = rows;
    add_rows(&at, ROW_RUNNING, q->v.n_running);
    add_rows(&at, ROW_WAITING, q->v.n_waiting);
    add_rows(&at, ROW_HELD, q->v.n_held);
    add_rows(&at, ROW_END, 1);
    s->rows = rows;
    s->n = n;
    return 0;
}

static int add_row(struct slices *s, const void *of, struct err *e)
{
    static int (*const adds[])(struct queue * q, size_t i,
                               struct err * e) = {[ROW_RUNNING] = add_running,
                                                  [ROW_WAITING] = add_waiting,
                                                  [ROW_HELD] = add_held,
                                                  [ROW_END] = add_left_out};
    const struct row *row = of;
    return adds[row->kind](s->of, row->i, e);
}

static void begin(struct page *p)
{
    strbuf_puts(&p->text, "{\"value\":[");
}

static void end(struct page *p)
{
    const struct queue *q = p->of;
    strbuf_puts(&p->text, "],\"leftOut\":");
    jsontext_add(&p->text, q->left_out);
    strbuf_puts(&p->text, "}");
}

struct replied *queue_list(struct request *r)
{
    static const struct page_form form = {
        .content_type = JSON_CONTENT_TYPE, .begin = begin, .between = ",", .end = end};
    static const struct slices_kind kind = {.fetch = fetch, .add = add_row};
    struct err e;
    struct queue *q = arena_alloc(&r->arena, sizeof *q);
    *q = (struct queue){
        .r = r, .wanted = request_query(r, "cluster"), .left_out = request_own(r, json_array())};
    if (request_query_int(r, "max", 1, QUEUE_MAX, QUEUE_DEFAULT, &q->waiting, &e) < 0 ||
        request_query_int(r, "running", 0, RUNNING_MAX, RUNNING_MAX, &q->running, &e) < 0 ||
        st_pool_ids(admin_of(r)->storage, &r->arena, &q->ids, &q->n_ids, &e) < 0)
        return reply_err(r, &e);
    bool asks_for_all = !r->grant && !request_query(r, "mine") && !request_query(r, "user");
    q->looked_at = asks_for_all ? (int)q->waiting : QUEUE_MAX;
    q->page = page_begin(r, &form, LONG_MAX, "");
    q->page->of = q;
    return slices_reply(q->page, &kind, q, sizeof(struct row));
}
