/* SPDX-License-Identifier: MIT
 *
 * The queues of all clusters: running jobs with their limits, waiting jobs with their reasons and
 * expected starts. `batchaid queue` is the client. Made in slices, because there may be many rows.
 * A batch of rows is one of these: the running jobs of a cluster with the first waiting jobs, which
 * are in its plan; some later waiting jobs; or some jobs that wait for other jobs ("held").
 *
 *   [next cluster] -> later waiting jobs, batch by batch -> held jobs, batch by batch -> ROW_END
 *
 * A reply contains the first rows of each cluster and the number of omitted rows; `cut` is true if
 * the reply is full and later rows are missing. With `rows` or `after` in the query, the reply is a
 * page of the whole list. A page continues after the last row's mark in the order of the rows: a
 * run whose place has changed meanwhile may be listed twice or not at all.
 */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "api/admin/queue_mark.h"
#include "api/admin/routes.h"
#include "api/admin/seen_jobs.h"
#include "api/admin/waits.h"
#include "api/http/slices.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define QUEUE_DEFAULT 200
#define QUEUE_MAX     10000
#define PAGE_DEFAULT  100 /* rows of a page */
#define PAGE_MAX      1000
#define RUNNING_MAX   1000000
#define BATCH         500 /* waiting or held jobs that are read at once */
#define NAME_SIZE     128 /* for the name of a cluster or pool: at most 64 letters */

/* The rows of a cluster, in this order. ROW_END is the row with the number of omitted rows. */
enum row_kind { ROW_RUNNING, ROW_WAITING, ROW_BEHIND, ROW_HELD, ROW_END };
struct queue_row {
    enum row_kind kind;
    size_t i; /* index in the array of its kind */
};

/* The kind of the next batch. */
enum queue_part { PART_CLUSTER, PART_BEHIND, PART_HELD };

struct queue_reply {
    struct request *r;
    struct page *page;
    const char *wanted;    /* NULL: all clusters */
    long waiting, running; /* most rows to show of each cluster */
    bool paged;
    struct queue_mark from; /* the previous page's last row; pool 0: none */
    int64_t *ids;           /* of the pools */
    size_t n_ids, at;
    enum queue_part next;
    /* Members of the cluster whose rows are shown: */
    char name[NAME_SIZE];
    struct pool pool;    /* only its numbers are valid after the batch */
    long shown[ROW_END]; /* rows by kind */
    json_int_t cut;      /* running jobs that are not shown */
    bool more, sees;
    size_t place;     /* of the last waiting job of earlier batches */
    size_t n_behind;  /* jobs after the plan's in this batch */
    struct run last;  /* the last row read; only its numbers stay valid */
    json_t *left_out; /* borrowed */
    /* Members of the batch: */
    struct queue_row *rows;
    struct queue_view v;
    struct run_rows runs; /* later waiting runs, or held runs */
    struct job job;       /* of the last row: many rows may be of one array */
    const struct run *job_of;
    int job_found;
};

static json_t *names(const struct queue_running *run)
{
    json_t *out = json_array();
    for (int i = 0; i < run->n_nodes; i++)
        json_array_append_new(out, json_string(run->nodes[i]));
    return out;
}

/* 1: the caller may see the job of this run and the query selects it; 0: not; -1: err. */
static int is_asked_for(struct queue_reply *q, const struct run *run, struct err *e)
{
    if (q->job_of && q->job_of->owner_kind == run->owner_kind &&
        q->job_of->owner_id == run->owner_id)
        return q->job_found;
    int rc = seen_job_with(q->r, run, &q->job, e);
    q->job_of = run;
    q->job_found = rc > 0 ? seen_job_is_by(q->r, &q->job) : rc;
    return q->job_found;
}

static void add(struct queue_reply *q, const struct queue_mark *at, json_t *row)
{
    char key[QUEUE_MARK_SIZE] = "";
    q->sees = true;
    if (q->paged)
        queue_mark_print(at, key);
    page_add(q->page, key, row);
}

static struct queue_mark mark_of(const struct queue_reply *q, enum queue_order order, int64_t by,
                                 int64_t run_id, size_t place)
{
    return (struct queue_mark){q->pool.id, order, by, run_id, (int64_t)place};
}

/* Whether `most` rows of this kind were already found before this one. Counts only jobs that the
 * query selects, so that other jobs do not use up the limit. */
static bool is_cut(struct queue_reply *q, enum row_kind kind, long most)
{
    bool is = q->shown[kind]++ >= most;
    q->sees = q->sees || is;
    return is;
}

/* Shows a running job; after the first q->running jobs it only counts. */
static int add_running(struct queue_reply *q, size_t i, struct err *e)
{
    const struct queue_running *run = &q->v.running[i];
    const struct queue_mark at = mark_of(q, BY_START, run->start_us, run->run_id, 0);
    if (queue_mark_is_past(&q->from, &at))
        return 0;
    struct run *row = arena_alloc(&q->r->arena, sizeof *row);
    int rc = st_run_by_id(admin_of(q->r)->storage, &q->r->arena, run->run_id, row, e);
    if (rc > 0)
        rc = is_asked_for(q, row, e);
    if (rc <= 0)
        return rc;
    if (is_cut(q, ROW_RUNNING, q->running)) {
        q->cut++;
        return 0;
    }
    json_t *o = seen_run_render(q->r, &q->job, row);
    json_object_set_new(o, "nodes", names(run));
    if (run->limit_us > 0 && !run->releasing)
        json_object_set_new(o, "limitTime", seen_time(run->limit_us));
    add(q, &at, o);
    return 0;
}

/* 1: the run must be shown; 0: it must not; -1: err. */
static int is_shown(struct queue_reply *q, const struct queue_mark *at, const struct run *run,
                    enum row_kind kind, struct err *e)
{
    if (queue_mark_is_past(&q->from, at))
        return 0;
    int rc = is_asked_for(q, run, e);
    if (rc <= 0 || !is_cut(q, kind, q->waiting))
        return rc;
    q->more = true;
    return 0;
}

static json_t *waiting(struct queue_reply *q, const struct run *run, size_t place, const char *what)
{
    json_t *o = seen_run_render(q->r, &q->job, run);
    json_object_set_new(o, "place", json_integer((json_int_t)place));
    json_object_set_new(o, "waitsFor", json_string(what));
    return o;
}

static int add_waiting(struct queue_reply *q, size_t i, struct err *e)
{
    const struct queue_waiting *w = &q->v.waiting[i];
    const struct queue_mark at = mark_of(q, BY_TURN, w->run.priority, w->run.id, i + 1);
    int rc = is_shown(q, &at, &w->run, ROW_WAITING, e);
    const char *what = rc > 0 ? waits_for(q->r, &q->v, i, e) : NULL;
    if (!what)
        return rc > 0 ? -1 : rc;
    json_t *o = waiting(q, &w->run, i + 1, what);
    if (w->verdict.start_us > 0)
        json_object_set_new(o, "expectedStartTime", seen_time(w->verdict.start_us));
    add(q, &at, o);
    return 0;
}

static int add_behind(struct queue_reply *q, size_t i, struct err *e)
{
    size_t before = q->place + i;
    const struct run *run = &q->runs.items[i];
    const struct queue_mark at = mark_of(q, BY_TURN, run->priority, run->id, before + 1);
    int rc = is_shown(q, &at, run, ROW_WAITING, e);
    if (rc > 0)
        add(q, &at, waiting(q, run, before + 1, waits_behind(q->r, &q->pool, before)));
    return rc < 0 ? -1 : 0;
}

static int add_held(struct queue_reply *q, size_t i, struct err *e)
{
    const struct run *run = &q->runs.items[i];
    const struct queue_mark at = mark_of(q, BY_ID, 0, run->id, 0);
    int rc = is_shown(q, &at, run, ROW_HELD, e);
    const char *what = rc > 0 ? waits_for_ends(q->r, run, e) : NULL;
    if (!what)
        return rc > 0 ? -1 : rc;
    json_t *o = seen_run_render(q->r, &q->job, run);
    json_object_set_new(o, "waitsFor", json_string(what));
    add(q, &at, o);
    return 0;
}

/* Adds the number of omitted rows; nothing for a cluster if the caller may see none of its jobs. */
static int add_left_out(struct queue_reply *q, size_t i, struct err *e)
{
    (void)i, (void)e;
    if (q->sees && (q->cut > 0 || q->more))
        json_array_append_new(q->left_out, json_pack("{s:s, s:I, s:b}", "cluster", q->name,
                                                     "running", q->cut, "waiting", q->more));
    return 0;
}

/* --- slices ----------------------------------------------------------------------------------- */

static void add_rows(struct slices *s, enum row_kind kind, size_t n)
{
    const struct queue_reply *q = s->of;
    for (size_t i = 0; i < n; i++)
        q->rows[s->n++] = (struct queue_row){kind, i};
}

static void begin_rows(struct slices *s, size_t n)
{
    struct queue_reply *q = s->of;
    s->rows = q->rows = arena_alloc(&q->r->arena, (n + 1) * sizeof *q->rows);
    s->n = 0;
}

/* Sets which rows are read after those of the plan. */
static void set_next(struct queue_reply *q)
{
    const struct queue_view *v = &q->v;
    const struct queue_mark *from = &q->from;
    bool held = from->pool == q->pool.id && from->order == BY_ID;
    q->next = v->more && !held ? PART_BEHIND : PART_HELD;
    q->place = v->n_waiting;
    q->n_behind = 0;
    q->last.id = held ? from->id : 0;
    if (q->next == PART_HELD)
        return;
    q->last = v->waiting[v->n_waiting - 1].run;
    const struct queue_mark last = mark_of(q, BY_TURN, q->last.priority, q->last.id, 0);
    if (!queue_mark_is_past(from, &last) || from->order != BY_TURN)
        return;
    q->last.priority = (int)from->by;
    q->last.id = from->id;
    q->place = (size_t)from->place;
}

static int fetch_cluster(struct slices *s, struct err *e)
{
    struct queue_reply *q = s->of;
    s->at_end = q->at == q->n_ids;
    if (s->at_end)
        return 0;
    int rc = queue_view(admin_of(q->r)->sched, &q->r->arena, q->ids[q->at++], &q->v, e);
    if (rc <= 0 || (q->wanted && strcasecmp(q->wanted, q->v.name) != 0))
        return rc < 0 ? -1 : 0;
    memset(q->shown, 0, sizeof q->shown);
    q->cut = 0;
    q->more = q->sees = false;
    (void)snprintf(q->name, sizeof q->name, "%s", q->v.name);
    q->pool = q->v.pool;
    set_next(q);
    begin_rows(s, q->v.n_running + q->v.n_waiting);
    add_rows(s, ROW_RUNNING, q->v.n_running);
    add_rows(s, ROW_WAITING, q->v.n_waiting);
    return 0;
}

/* Fetches the waiting jobs after those of the plan; none if a waiting job was already omitted. */
static int fetch_behind(struct slices *s, struct err *e)
{
    struct queue_reply *q = s->of;
    const struct st_page page = {.after = q->last.id, .limit = BATCH};
    q->runs.n = 0;
    q->place += q->n_behind;
    if (!q->more && st_run_behind(admin_of(q->r)->storage, &q->r->arena, q->pool.id,
                                  q->last.priority, &page, &q->runs, e) < 0)
        return -1;
    begin_rows(s, q->runs.n);
    add_rows(s, ROW_BEHIND, q->runs.n);
    q->n_behind = q->runs.n;
    if (q->runs.n == BATCH) {
        q->last = q->runs.items[BATCH - 1];
        return 0;
    }
    q->next = PART_HELD;
    q->last.id = 0;
    return 0;
}

static int fetch_held(struct slices *s, struct err *e)
{
    struct queue_reply *q = s->of;
    const struct st_page page = {.after = q->last.id, .limit = BATCH};
    bool all = q->shown[ROW_HELD] > q->waiting;
    q->runs.n = 0;
    if (!all &&
        st_run_held(admin_of(q->r)->storage, &q->r->arena, q->pool.id, &page, &q->runs, e) < 0)
        return -1;
    begin_rows(s, q->runs.n + 1);
    add_rows(s, ROW_HELD, q->runs.n);
    if (q->runs.n == BATCH) {
        q->last.id = q->runs.items[BATCH - 1].id;
        return 0;
    }
    add_rows(s, ROW_END, 1);
    q->next = PART_CLUSTER;
    return 0;
}

static int fetch(struct slices *s, struct err *e)
{
    static int (*const parts[])(struct slices * s, struct err * e) = {
        [PART_CLUSTER] = fetch_cluster, [PART_BEHIND] = fetch_behind, [PART_HELD] = fetch_held};
    struct queue_reply *q = s->of;
    q->job_of = NULL;
    return parts[q->next](s, e);
}

static int add_row(struct slices *s, const void *of, struct err *e)
{
    static int (*const adds[])(struct queue_reply * q, size_t i,
                               struct err * e) = {[ROW_RUNNING] = add_running,
                                                  [ROW_WAITING] = add_waiting,
                                                  [ROW_BEHIND] = add_behind,
                                                  [ROW_HELD] = add_held,
                                                  [ROW_END] = add_left_out};
    const struct queue_row *row = of;
    return adds[row->kind](s->of, row->i, e);
}

static void begin(struct page *p)
{
    strbuf_puts(&p->text, "{\"value\":[");
}

static void end(struct page *p)
{
    const struct queue_reply *q = p->of;
    strbuf_puts(&p->text, "],\"leftOut\":");
    jsontext_add(&p->text, q->left_out);
    if (q->paged && p->more) {
        strbuf_puts(&p->text, ",\"next\":");
        jsontext_add_text(&p->text, p->last.s, p->last.len);
    } else if (p->more) {
        strbuf_puts(&p->text, ",\"cut\":true");
    }
    strbuf_puts(&p->text, "}");
}

/* Reads from the query what to show: the first rows of each cluster, or a page of all rows. */
static int read_part(struct queue_reply *q, long *rows, struct err *e)
{
    struct request *r = q->r;
    const char *after = request_query(r, "after");
    q->paged = after || request_query(r, "rows");
    if (request_query_int(r, "max", (struct query_bounds){1, QUEUE_MAX, QUEUE_DEFAULT}, &q->waiting,
                          e) < 0 ||
        request_query_int(r, "running", (struct query_bounds){0, RUNNING_MAX, RUNNING_MAX},
                          &q->running, e) < 0 ||
        request_query_int(r, "rows", (struct query_bounds){1, PAGE_MAX, PAGE_DEFAULT}, rows, e) < 0)
        return -1;
    if (!q->paged) {
        *rows = LONG_MAX;
        return 0;
    }
    q->waiting = q->running = LONG_MAX;
    if (!after || queue_mark_read(after, &q->from) == 0)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "after",
                   "'%.100s' is not a valid position in the queue; use `next` of the previous page",
                   after);
}

struct replied *queue_list(struct request *r)
{
    static const struct page_form form = {
        .content_type = JSON_CONTENT_TYPE, .begin = begin, .between = ",", .end = end};
    static const struct slices_kind kind = {.fetch = fetch, .add = add_row};
    struct err e;
    long rows;
    struct queue_reply *q = arena_alloc(&r->arena, sizeof *q);
    *q = (struct queue_reply){
        .r = r, .wanted = request_query(r, "cluster"), .left_out = request_own(r, json_array())};
    if (read_part(q, &rows, &e) < 0 ||
        st_pool_ids(admin_of(r)->storage, &r->arena, &q->ids, &q->n_ids, &e) < 0)
        return reply_err(r, &e);
    while (q->at < q->n_ids && q->ids[q->at] < q->from.pool)
        q->at++;
    q->page = page_begin(r, &form, rows, "");
    q->page->of = q;
    return slices_reply(q->page, &kind, q, sizeof(struct queue_row));
}
