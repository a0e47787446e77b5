/* SPDX-License-Identifier: MIT
 *
 * Linked into a simulation of its own, to see that it finds what it is there for: one thing that
 * must hold is broken, that which SIM_BREAK names. Functions of the core are wrapped for that
 * (-Wl,--wrap); nothing of this is in any other program.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "scheduler/wake/wake.h"
#include "storage/storage.h"

static bool broken(const char *what)
{
    const char *name = getenv("SIM_BREAK");
    return name && strcmp(name, what) == 0;
}

/* Acknowledges what was never synced. */
int __real_sim_disk_sync(int fd);
int __wrap_sim_disk_sync(int fd);
int __wrap_sim_disk_sync(int fd)
{
    return broken("durability") ? 0 : __real_sim_disk_sync(fd);
}

/* Gives the queue from its end. */
int __real_st_run_queue(struct storage *st, struct arena *a, int64_t pool_id, int largest,
                        int limit, struct run **rows, size_t *n, struct err *e);
int __wrap_st_run_queue(struct storage *st, struct arena *a, int64_t pool_id, int largest,
                        int limit, struct run **rows, size_t *n, struct err *e);
int __wrap_st_run_queue(struct storage *st, struct arena *a, int64_t pool_id, int largest,
                        int limit, struct run **rows, size_t *n, struct err *e)
{
    int rc = __real_st_run_queue(st, a, pool_id, largest, limit, rows, n, e);
    for (size_t i = 0; rc == 0 && broken("order") && i < *n / 2; i++) {
        struct run first = (*rows)[i];
        (*rows)[i] = (*rows)[*n - 1 - i];
        (*rows)[*n - 1 - i] = first;
    }
    return rc;
}

/* Forgets how many nodes there are already. */
int __real_st_node_local_total(struct storage *st, int64_t *n, struct err *e);
int __wrap_st_node_local_total(struct storage *st, int64_t *n, struct err *e);
int __wrap_st_node_local_total(struct storage *st, int64_t *n, struct err *e)
{
    int rc = __real_st_node_local_total(st, n, e);
    if (broken("capacity"))
        *n = 0;
    return rc;
}

/* Another try of a run that was started already has the number of the first. */
int __real_st_run_move(struct storage *st, const struct st_run_move *m, struct err *e);
int __wrap_st_run_move(struct storage *st, const struct st_run_move *m, struct err *e);
int __wrap_st_run_move(struct storage *st, const struct st_run_move *m, struct err *e)
{
    struct st_run_move again = *m;
    if (broken("once") && again.attempt > 1)
        again.attempt = 1;
    return __real_st_run_move(st, &again, e);
}

/* Loses some of what should wake a pool. */
void __real_wake(struct wakes *w, enum wake_kind kind, int64_t id);
void __wrap_wake(struct wakes *w, enum wake_kind kind, int64_t id);
void __wrap_wake(struct wakes *w, enum wake_kind kind, int64_t id)
{
    static int n;
    if (!broken("waking") || kind != WAKE_POOL || ++n % 3 != 0)
        __real_wake(w, kind, id);
}
