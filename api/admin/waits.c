/* SPDX-License-Identifier: MIT
 *
 * Asks the scheduler why a job waits, and writes the answer as text. The request owns all memory.
 * Called only on the loop's thread.
 */
#include "api/admin/waits.h"

#include "api/admin/seen_jobs.h"
#include "model/capacity.h"
#include "storage/storage.h"

/* Sets *name to the name of the run's job; "another job" if the caller may not see it. */
static int name_of(struct request *r, int64_t run_id, const char **name, struct err *e)
{
    struct job j;
    struct run row;
    int rc = seen_job_of_run(r, run_id, &j, &row, e);
    *name = rc == 1 ? j.name : "another job";
    return rc < 0 ? -1 : 0;
}

static const char *nodes(struct arena *a, int n)
{
    return arena_printf(a, "%d node%s", n, n == 1 ? "" : "s");
}

/* Adds to the text the missing nodes for which no time is known. */
static const char *uncertain(struct arena *a, const struct queue_view *v,
                             const struct plan_verdict *got, const char *text)
{
    if (got->coming > 0)
        text = arena_printf(a, "%s; %s being prepared", text, nodes(a, got->coming));
    if (got->lacking > 0)
        text = arena_printf(a, "%s; %s not available now%s%s", text, nodes(a, got->lacking),
                            v->no_use ? ": " : "", v->no_use ? v->no_use : "");
    return text;
}

static const char *waits(struct request *r, const struct queue_view *v,
                         const struct queue_waiting *w, struct err *e)
{
    struct arena *a = &r->arena;
    const struct plan_verdict *got = &w->verdict;
    const char *text = arena_printf(a, "%d of %s free", got->room, nodes(a, w->run.nodes)), *behind;
    if (!w->run.need_whole)
        text = arena_printf(a, "%d of %s with %s free", got->room, nodes(a, w->run.nodes),
                            capacity_text(a, &w->run.need));
    text = uncertain(a, v, got, text);
    if (got->behind == 0)
        return text;
    if (name_of(r, got->behind, &behind, e) < 0)
        return NULL;
    return arena_printf(a, "%s, behind %s", text, behind);
}

static const char *kind_of(const struct queue_view *v)
{
    return v->pool.kind == RES_BATCH_POOL ? "pool" : "cluster";
}

const char *waits_behind(struct request *r, const struct pool *p, size_t before)
{
    if (p->going)
        return p->kind == RES_BATCH_POOL ? "its pool is being deleted"
                                         : "its cluster is being deleted";
    return arena_printf(&r->arena, "its turn: %zu others are before it", before);
}

const char *waits_for(struct request *r, const struct queue_view *v, size_t i, struct err *e)
{
    struct arena *a = &r->arena;
    const struct queue_waiting *w = &v->waiting[i];
    if (v->pool.going)
        return waits_behind(r, &v->pool, i);
    switch (w->verdict.turn) {
    case PLAN_STARTS:
        return "nothing: it starts in a moment";
    case PLAN_WAITS:
        return waits(r, v, w, e);
    case PLAN_TOO_MANY:
        return arena_printf(a, "%s, but %s %s is scaled to %d: others start before it",
                            nodes(a, w->run.nodes), kind_of(v), v->name,
                            plan_largest(&v->pool.scale));
    case PLAN_TOO_MUCH:
        return arena_printf(a, "%s with %s, but no node of %s %s has that: others start before it",
                            nodes(a, w->run.nodes), capacity_text(a, &w->run.need), kind_of(v),
                            v->name);
    case PLAN_BARRED:
        return "a node that can be prepared for its job: others start before it";
    case PLAN_NOT_SEEN:
        return waits_behind(r, &v->pool, i);
    }
    return "";
}

int waits_in_queue(struct request *r, int64_t pool_id, int64_t run_id, struct queue_place *out,
                   struct err *e)
{
    struct queue_view v;
    *out = (struct queue_place){0};
    int rc = queue_view(admin_of(r)->sched, &r->arena, pool_id, &v, e);
    if (rc <= 0)
        return rc;
    for (size_t i = 0; i < v.n_waiting; i++)
        if (v.waiting[i].run.id == run_id)
            *out =
                (struct queue_place){i + 1, waits_for(r, &v, i, e), v.waiting[i].verdict.start_us};
    return out->place > 0 && !out->what ? -1 : 1;
}

const char *waits_for_ends(struct request *r, const struct run *run, struct err *e)
{
    static const char *const ends[] = {
        [AFTER_SUCCESS] = "succeed", [AFTER_FAILURE] = "fail", [AFTER_END] = "end"};
    struct dependency *rows;
    size_t n;
    const char *text = NULL;
    if (run->held == HOLD_TURN)
        return "earlier indexes of its array to end";
    if (st_dependency_of(admin_of(r)->storage, &r->arena, run->owner_kind, run->owner_id, &rows, &n,
                         e) < 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (rows[i].state == DEPENDENCY_OPEN)
            text = arena_printf(&r->arena, "%s%sjob %s to %s", text ? text : "", text ? ", " : "",
                                rows[i].name, ends[rows[i].wanted]);
    return text ? text : "nothing: it fails in a moment";
}
