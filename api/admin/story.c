/* SPDX-License-Identifier: MIT
 *
 * The history of a job is composed from rows: events contain the job's changes of state,
 * allocations contain the nodes of each attempt. If the job waited, the last release of one of its
 * nodes shows for which run it waited.
 */
#include "api/admin/story.h"

#include <string.h>

#include "api/admin/seen_jobs.h"
#include "api/admin/waits.h"
#include "lib/timefmt.h"
#include "model/capacity.h"
#include "model/failure.h"
#include "storage/overview.h"

#define INDEXES_MAX 100

struct teller {
    struct request *r;
    const struct job *j;
    struct run run;
    struct allocation *parts; /* the nodes of all attempts */
    size_t n_parts;
    struct seen_use use;
    int64_t queued_us; /* when the wait for this attempt began */
    const char *who;   /* waits */
    int attempt;       /* the last attempt that has a line */
    json_t *out;
};

static struct storage *storage_of(const struct teller *t)
{
    return admin_of(t->r)->storage;
}

static void tell(struct teller *t, int64_t at_us, const char *text)
{
    json_array_append_new(t->out, seen_line(at_us, text));
}

static const char *wish(struct arena *a, const struct job *j)
{
    const char *nodes = arena_printf(a, "%d node%s", j->node_count, j->node_count == 1 ? "" : "s");
    return j->part ? arena_printf(a, "%s with %s%s", nodes, capacity_text(a, &j->need),
                                  j->node_count > 1 ? " each" : "")
                   : nodes;
}

static const char *cluster_of(const struct job *j)
{
    const char *slash = j->cluster_ref ? strrchr(j->cluster_ref, '/') : NULL;
    return slash ? slash + 1 : "";
}

static const char *span(struct arena *a, int64_t us)
{
    int64_t s = us > 0 ? us / 1000000 : 0;
    if (s < 60)
        return arena_printf(a, "%lld.%lld s", (long long)s,
                            (long long)(us > 0 ? us / 100000 % 10 : 0));
    if (s < 3600)
        return arena_printf(a, "%lld min %lld s", (long long)(s / 60), (long long)(s % 60));
    return arena_printf(a, "%lld h %lld min", (long long)(s / 3600), (long long)(s / 60 % 60));
}

/* Adds a line with the run whose end released the last of the job's nodes. */
static int tell_wait(struct teller *t, size_t first, int64_t at_us, struct err *e)
{
    struct arena *a = &t->r->arena;
    struct allocation last = {.released_us = 0}, one;
    struct job other;
    struct run row;
    for (size_t i = first; i < t->n_parts && t->parts[i].attempt == t->parts[first].attempt; i++) {
        const struct st_released w = {t->parts[i].node_name, t->run.id, t->queued_us, at_us};
        int rc = st_allocation_before(storage_of(t), a, &w, &one, e);
        if (rc < 0)
            return -1;
        if (rc == 1 && one.released_us > last.released_us)
            last = one;
    }
    if (last.released_us == 0)
        return 0;
    int rc = seen_job_of_run(t->r, last.run_id, &other, &row, e);
    if (rc < 0)
        return -1;
    tell(t, last.released_us,
         arena_printf(a, "it waited for %s, which ended on %s",
                      rc == 1 ? arena_printf(a, "job %s", other.name) : "another job",
                      seen_node(t->r, &t->use, last.node_id, last.node_name)));
    return 0;
}

static int tell_start(struct teller *t, int64_t at_us, struct err *e)
{
    struct arena *a = &t->r->arena;
    const char *names = "";
    size_t i = 0;
    while (i < t->n_parts && t->parts[i].attempt <= t->attempt)
        i++;
    if (i < t->n_parts && tell_wait(t, i, at_us, e) < 0)
        return -1;
    t->attempt = i < t->n_parts ? t->parts[i].attempt : t->attempt;
    for (; i < t->n_parts && t->parts[i].attempt == t->attempt; i++)
        names = arena_printf(a, "%s%s%s%s%s", names, *names ? ", " : "",
                             seen_node(t->r, &t->use, t->parts[i].node_id, t->parts[i].node_name),
                             t->parts[i].devices && *t->parts[i].devices ? " GPU " : "",
                             t->parts[i].devices ? t->parts[i].devices : "");
    tell(t, at_us,
         arena_printf(a, "allocated after %s: attempt %d, on %s", span(a, at_us - t->queued_us),
                      t->attempt, *names ? names : "nodes that are gone"));
    return 0;
}

/* The messages of the job's errors, each after ": ". */
static const char *errors_of(struct arena *a, const struct job *j)
{
    json_auto_t *list = j->errors ? json_loads(j->errors, 0, NULL) : NULL;
    json_t *one;
    const char *text = "";
    size_t i;
    json_array_foreach(list, i, one) {
        const char *message = json_string_value(json_object_get(one, "message"));
        text = message ? arena_printf(a, "%s: %s", text, message) : text;
    }
    return text;
}

/* Adds lines for "stderr" and "remedy" in the details of the job's errors. */
static void tell_details(struct teller *t, int64_t at_us)
{
    static const char *const told[] = {"stderr", "remedy"};
    json_auto_t *list = t->j->errors ? json_loads(t->j->errors, 0, NULL) : NULL;
    json_t *one, *detail;
    size_t i, k;
    json_array_foreach(list, i, one) {
        json_array_foreach(json_object_get(one, "details"), k, detail) {
            const char *name = json_string_value(json_object_get(detail, "name")),
                       *value = json_string_value(json_object_get(detail, "value"));
            for (size_t w = 0; name && value && w < sizeof told / sizeof told[0]; w++)
                if (strcmp(name, told[w]) == 0)
                    tell(t, at_us, seen_detail(t->r, name, value));
        }
    }
}

/* Adds the place of the job's output, if the job ever ran. */
static void tell_place(struct teller *t, int64_t at_us)
{
    json_auto_t *doc = t->j->doc && t->attempt > 0 ? json_loads(t->j->doc, 0, NULL) : NULL;
    const char *prefix = json_string_value(
        json_object_get(json_object_get(doc, "properties"), "stdOutErrPathPrefix"));
    if (prefix)
        tell(t, at_us, arena_concat(&t->r->arena, "its output is below ", prefix));
}

static void tell_end(struct teller *t, const struct event *ev)
{
    struct arena *a = &t->r->arena;
    const struct job *j = t->j;
    const char *code = j->has_exit_code ? arena_printf(a, ", exit code %d", j->exit_code) : "";
    const char *ran = j->start_us > 0 && t->attempt > 0
                          ? arena_printf(a, " after %s", span(a, ev->at_us - j->start_us))
                          : "";
    if (ev->to == EXEC_SUCCEEDED) {
        tell(t, ev->at_us, arena_printf(a, "succeeded%s%s", ran, code));
        return;
    }
    tell_details(t, ev->at_us);
    tell_place(t, ev->at_us);
    tell(t, ev->at_us,
         arena_printf(a, "failed%s%s%s%s%s", ran, code, ev->reason ? ": " : "",
                      ev->reason ? ev->reason : "", errors_of(a, j)));
}

static int tell_event(struct teller *t, const struct event *ev, struct err *e)
{
    struct arena *a = &t->r->arena;
    if (ev->from == ev->to) { /* an event about dependencies or an index */
        tell(t, ev->at_us, ev->reason ? ev->reason : "it waits for others");
        return 0;
    }
    switch ((enum exec_state)ev->to) {
    case EXEC_QUEUED:
        t->queued_us = ev->at_us;
        tell(t, ev->at_us,
             ev->from == 0 ? arena_printf(a, "queued in cluster %s: it needs %s", cluster_of(t->j),
                                          wish(a, t->j))
                           : arena_printf(a, "queued again%s%s", ev->reason ? ": " : "",
                                          ev->reason ? ev->reason : ""));
        return 0;
    case EXEC_RUNNING:
        return tell_start(t, ev->at_us, e);
    case EXEC_TERMINATING:
        tell(t, ev->at_us, "its termination was requested");
        return 0;
    case EXEC_SUCCEEDED:
    case EXEC_FAILED:
        tell_end(t, ev);
        return 0;
    }
    return 0;
}

/* Adds a line that explains why the run waits now. */
static int tell_queue(struct teller *t, struct err *e)
{
    struct arena *a = &t->r->arena;
    struct queue_place q;
    char at[TIMEFMT_SIZE] = "";
    int rc = waits_in_queue(t->r, t->run.pool_id, t->run.id, &q, e);
    if (rc <= 0)
        return rc;
    if (q.place > 0) {
        if (q.start_us > 0)
            timefmt_wire(q.start_us, at);
        tell(t, 0,
             arena_printf(a, "%s waits in place %zu for %s%s%s", t->who, q.place, q.what,
                          *at ? "; by the time limits it starts at " : "", at));
        return 0;
    }
    if (t->run.held == HOLD_NOT) {
        tell(t, 0, arena_printf(a, "%s waits, behind the first that are looked at", t->who));
        return 0;
    }
    const char *what = waits_for_ends(t->r, &t->run, e);
    if (what)
        tell(t, 0, arena_printf(a, "%s waits for %s", t->who, what));
    return what ? 0 : -1;
}

static int tell_limit(struct teller *t)
{
    char at[TIMEFMT_SIZE];
    if (t->run.max_wall_us <= 0 || t->run.start_us <= 0)
        return 0;
    timefmt_wire(t->run.start_us + t->run.max_wall_us, at);
    tell(t, 0, arena_printf(&t->r->arena, "it runs; its time limit is over at %s", at));
    return 0;
}

/* Consecutive waiting indexes of an array. */
struct waiting_indexes {
    struct run first;
    int last;
    size_t n;
};

static void tell_waiting(struct teller *t, struct waiting_indexes *w)
{
    struct arena *a = &t->r->arena;
    if (w->n == 1)
        tell(t, 0, arena_printf(a, "index %d waits", w->last));
    else if (w->n > 1)
        tell(t, 0, arena_printf(a, "%zu indexes wait, %d to %d", w->n, w->first.number, w->last));
    w->n = 0;
}

/* True: the run waits and was counted; false: it does not wait. */
static bool add_waiting(struct waiting_indexes *w, const struct run *run)
{
    if (run->state != RUN_WAITING)
        return false;
    if (w->n++ == 0)
        w->first = *run;
    w->last = run->number;
    return true;
}

/* Adds why the first waiting index waits. */
static int tell_first(struct teller *t, const struct run *run, struct err *e)
{
    if (run->id == 0)
        return 0;
    t->run = *run;
    t->who = arena_printf(&t->r->arena, "index %d", run->number);
    return tell_queue(t, e) < 0 ? -1 : 0;
}

/* Adds the state of each index of an array. */
static int tell_indexes(struct teller *t, struct err *e)
{
    struct arena *a = &t->r->arena;
    struct storage *st = storage_of(t);
    struct waiting_indexes waiting = {.n = 0};
    struct run first = {.id = 0};
    int64_t *ids;
    size_t n;
    if (st_run_ids_of(st, a, RES_JOB, t->j->id, &ids, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n && i < INDEXES_MAX; i++) {
        struct run run;
        struct node *nodes;
        size_t n_nodes;
        int rc = st_run_by_id(st, a, ids[i], &run, e);
        if (rc <= 0 || st_node_of_run(st, a, ids[i], &nodes, &n_nodes, e) < 0)
            return rc == 0 ? 0 : -1;
        if (add_waiting(&waiting, &run)) {
            first = first.id ? first : run;
            continue;
        }
        tell_waiting(t, &waiting);
        bool runs = run.end_us == 0 && n_nodes > 0; /* an ended run may still be cleaned up */
        const char *how = runs          ? arena_printf(a, "runs on %s",
                                                       seen_node(t->r, &t->use, nodes[0].id, nodes[0].name))
                          : run.failure ? arena_printf(a, "failed: %s", failure_name(run.failure))
                                        : "has ended";
        tell(t, run.end_us, arena_printf(a, "index %d %s", run.number, how));
    }
    tell_waiting(t, &waiting);
    if (n > INDEXES_MAX)
        tell(t, 0, arena_printf(a, "and %zu more indexes", n - INDEXES_MAX));
    return tell_first(t, &first, e);
}

/* Adds the events of the cluster's creation: shares that were created because the cluster names
 * them. Later events of the cluster do not belong to the job. */
static int tell_cluster(struct teller *t, struct err *e)
{
    struct event *events;
    size_t n;
    if (t->j->cluster_id == 0)
        return 0;
    if (st_event_of(storage_of(t), &t->r->arena, RES_CLUSTER, t->j->cluster_id, &events, &n, e) < 0)
        return -1;
    for (size_t i = 1; i < n && events[0].from == 0 && events[i].at_us == events[0].at_us; i++)
        if (events[i].from == events[i].to && events[i].reason)
            tell(t, events[i].at_us, events[i].reason);
    return 0;
}

static int tell_all(struct teller *t, struct err *e)
{
    struct event *events;
    size_t n;
    struct arena *a = &t->r->arena;
    struct storage *st = storage_of(t);
    int rc = st_run_of(st, a, RES_JOB, t->j->id, 0, &t->run, e);
    if (rc < 0 || st_event_of(st, a, RES_JOB, t->j->id, &events, &n, e) < 0 ||
        st_allocation_of_run_all(st, a, t->run.id, &t->parts, &t->n_parts, e) < 0 ||
        seen_use_read(t->r, RES_JOB, t->j->id, &t->use, e) < 0)
        return -1;
    if (tell_cluster(t, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (tell_event(t, &events[i], e) < 0)
            return -1;
    if (t->run.runs > 1)
        return tell_indexes(t, e);
    if (t->j->exec_state == EXEC_QUEUED)
        return tell_queue(t, e) < 0 ? -1 : 0;
    return t->j->exec_state == EXEC_RUNNING ? tell_limit(t) : 0;
}

json_t *story_of(struct request *r, const struct job *j, struct err *e)
{
    struct teller t = {
        .r = r, .j = j, .queued_us = j->created_us, .who = "it", .out = json_array()};
    if (tell_all(&t, e) == 0)
        return t.out;
    json_decref(t.out);
    return NULL;
}

json_t *story_failed_indexes(struct request *r, const struct job *j, struct err *e)
{
    struct storage *st = admin_of(r)->storage;
    json_t *list = request_own(r, json_array());
    int64_t *ids;
    size_t n = 0;
    if (st_run_ids_of(st, &r->arena, RES_JOB, j->id, &ids, &n, e) < 0)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        struct run run;
        int rc = st_run_by_id(st, &r->arena, ids[i], &run, e);
        if (rc < 0)
            return NULL;
        if (rc > 0 && run.runs > 1 && run.failure != 0)
            json_array_append_new(list, json_integer(run.number));
    }
    return list;
}
