/* SPDX-License-Identifier: MIT
 *
 * Dependencies that must end before a resource's runs may begin.
 */
#include "storage/storage_priv.h"

#include <assert.h>

#include "lib/strbuf.h"
#include "model/states.h"

static int end_one(struct storage *st, const struct dependency *d, enum ended_how how,
                   struct err *e)
{
    return st_dependency_end(st, d, dependency_next(d->wanted, how), how, e);
}

static int move_runs(struct storage *st, enum resource_kind owner, int64_t owner_id,
                     enum run_hold from, enum hold_event ev, struct err *e)
{
    enum run_hold to = hold_next(from, ev);
    assert(to != 0);
    return st_run_hold(st, owner, owner_id, from, to, e);
}

/* Adds an event with the reason to the job. The job's state is unchanged: it is queued, as
 * before. */
static int tell(struct storage *st, enum resource_kind owner, int64_t owner_id, int64_t now_us,
                const char *reason, struct err *e)
{
    const struct event ev = {.at_us = now_us,
                             .kind = owner,
                             .resource_id = owner_id,
                             .from = EXEC_QUEUED,
                             .to = EXEC_QUEUED,
                             .reason = reason};
    return st_event_add(st, &ev, e);
}

/* The text "waits for a, b:failure" with the open dependencies. */
static const char *waits_for(struct arena *a, const struct dependency *rows, size_t n)
{
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        if (rows[i].state == DEPENDENCY_OPEN)
            text = arena_printf(a, "%s%s%s%s%s", text, *text ? ", " : "", rows[i].name,
                                rows[i].wanted == AFTER_SUCCESS ? "" : ":",
                                rows[i].wanted == AFTER_SUCCESS
                                    ? ""
                                    : enum_to_name(after_names, (int)rows[i].wanted));
    return arena_printf(a, "waits for %s", text);
}

/* Call when all dependencies of the owner were checked: keeps its runs waiting, or releases
 * them. */
static int decide(struct storage *st, struct arena *a, enum resource_kind owner, int64_t owner_id,
                  int64_t now_us, const char *why, struct err *e)
{
    struct dependency *rows;
    size_t n, open = 0, broken = 0;
    if (st_dependency_of(st, a, owner, owner_id, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        open += rows[i].state == DEPENDENCY_OPEN;
        broken += rows[i].state == DEPENDENCY_BROKEN;
    }
    if (broken > 0 && move_runs(st, owner, owner_id, HOLD_TURN, HOLD_EV_BROKEN, e) < 0)
        return -1;
    if (broken > 0)
        return move_runs(st, owner, owner_id, HOLD_WAITS, HOLD_EV_BROKEN, e);
    if (open > 0)
        return tell(st, owner, owner_id, now_us, waits_for(a, rows, n), e);
    if (move_runs(st, owner, owner_id, HOLD_WAITS, HOLD_EV_MET, e) < 0)
        return -1;
    return tell(st, owner, owner_id, now_us, why ? why : "does not wait any more", e);
}

struct dependency_adding {
    struct arena *a;
    const struct dependency *rows;
    size_t n;
    int64_t now_us;
};

static int add_all(struct storage *st, void *ctx, struct err *e)
{
    const struct dependency_adding *k = ctx;
    const struct dependency *first = &k->rows[0];
    for (size_t i = 0; i < k->n; i++) {
        assert(k->rows[i].owner_id == first->owner_id);
        if (st_dependency_insert(st, &k->rows[i], e) < 0)
            return -1;
    }
    if (move_runs(st, first->owner_kind, first->owner_id, HOLD_NOT, HOLD_EV_WAIT, e) < 0)
        return -1;
    return decide(st, k->a, first->owner_kind, first->owner_id, k->now_us, NULL, e);
}

int st_dependency_add(struct storage *st, struct arena *a, const struct dependency *rows, size_t n,
                      int64_t now_us, struct err *e)
{
    struct dependency_adding k = {a, rows, n, now_us};
    return n > 0 ? st_tx(st, "add dependencies", add_all, &k, e) : 0;
}

struct settling {
    struct arena a;
    enum resource_kind kind;
    int64_t id, now_us;
    enum ended_how how;
    int limit;
    bool *left;
};

static int settle(struct storage *st, void *ctx, struct err *e)
{
    struct settling *k = ctx;
    struct dependency *rows;
    size_t n;
    /* the ended resource itself does not wait any more */
    if (st_dependency_remove(st, k->kind, k->id, e) < 0)
        return -1;
    if (st_dependency_awaiting(st, &k->a, k->kind, k->id, k->limit, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct dependency *d = &rows[i];
        const char *why = arena_printf(&k->a, "released: %s %s", d->name, ended_text(k->how));
        if (end_one(st, d, k->how, e) < 0 ||
            decide(st, &k->a, d->owner_kind, d->owner_id, k->now_us, why, e) < 0)
            return -1;
    }
    *k->left = n == (size_t)k->limit;
    return 0;
}

int st_dependency_settle(struct storage *st, enum resource_kind awaited, int64_t awaited_id,
                         const struct st_settling *how, bool *left, struct err *e)
{
    struct settling k = {.kind = awaited,
                         .id = awaited_id,
                         .now_us = how->now_us,
                         .how = how->ended,
                         .limit = how->limit,
                         .left = left};
    arena_init(&k.a);
    int rc = st_tx(st, "settle dependencies", settle, &k, e);
    arena_free(&k.a);
    return rc;
}
