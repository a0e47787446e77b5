/* SPDX-License-Identifier: MIT
 *
 * Requests that wait for the row of a share or an account: a struct share_pending for each row,
 * from the first request until the row has the wanted state, or cannot get it. On the loop.
 */
#include <assert.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "scheduler/wake/wake.h"
#include "storage/shares/shares_priv.h"
#include "storage/storage.h"

struct share_pending *share_pending_get(struct shares *sh, struct id_map *map, int64_t id)
{
    struct share_pending *p = id_map_find(map, id);
    if (p)
        return p;
    p = xcalloc(1, sizeof *p);
    *p = (struct share_pending){.sh = sh, .id = id};
    id_map_put(map, id, p);
    return p;
}

void share_pending_add(struct share_pending *p, shares_done cb, void *ctx)
{
    if (!cb)
        return;
    struct share_waiter *w = xcalloc(1, sizeof *w);
    *w = (struct share_waiter){cb, ctx, p->waiters};
    p->waiters = w;
}

static void tell(struct share_pending *p, const struct err *why)
{
    for (struct share_waiter *w; (w = p->waiters) != NULL;) {
        p->waiters = w->next;
        w->cb(w->ctx, why);
        free(w);
    }
}

void share_settle(struct id_map *map, int64_t id, const struct err *why)
{
    struct share_pending *p = id_map_find(map, id);
    if (!p)
        return;
    assert(!p->busy);
    id_map_remove(map, id);
    tell(p, why);
    free(p);
}

void share_pendings_end(struct id_map *map, const struct err *why)
{
    for (size_t i = 0; i < map->n; i++)
        tell(map->e[i].p, why);
}

void share_pendings_free(struct id_map *map)
{
    for (size_t i = 0; i < map->n; i++) {
        struct share_pending *p = map->e[i].p;
        assert(!p->waiters && !p->busy);
        free(p);
    }
    id_map_free(map);
}

void share_await(struct shares *sh, int64_t id, enum share_state want, shares_done cb, void *ctx)
{
    struct share_pending *p = share_pending_get(sh, &sh->shares, id);
    p->want = want;
    share_pending_add(p, cb, ctx);
    wake_durable(sh->c.wakes, &woken_share, id);
}

struct settled_write {
    struct shares *sh;
    int64_t id;
};

/* If the turn that wrote a row is lost, the row's id is free at once, also for another share. So
 * the requests that wait for the row are ended. */
static void on_written(void *ctx, const struct err *why)
{
    struct settled_write *x = ctx;
    const struct share_pending *p = why ? id_map_find(&x->sh->shares, x->id) : NULL;
    if (p && !p->busy)
        share_settle(&x->sh->shares, x->id, why);
    free(x);
}

void share_await_written(struct shares *sh, int64_t id, enum share_state want, shares_done cb,
                         void *ctx)
{
    struct settled_write *x = xcalloc(1, sizeof *x);
    *x = (struct settled_write){sh, id};
    share_await(sh, id, want, cb, ctx);
    st_when_durable(sh->c.storage, on_written, x);
}
