/* SPDX-License-Identifier: MIT
 *
 * Linked into a simulation of its own, to see that it finds what it is there for: one thing that
 * must hold is broken, that which SIM_BREAK names. Functions of the core are wrapped for that
 * (-Wl,--wrap); nothing of this is in any other program.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "scheduler/fleet/mount/file_server.h"
#include "scheduler/front/batch/front_priv.h"
#include "scheduler/reservations.h"
#include "scheduler/run/launch/launch.h"
#include "scheduler/scheduler.h"
#include "scheduler/wake/wake.h"
#include "storage/batch_jobs.h"
#include "storage/storage.h"
#include "storage/storage_priv.h"
#include "test/sim/wrap.h"

static bool broken(const char *what)
{
    const char *name = getenv("SIM_BREAK");
    return name && strcmp(name, what) == 0;
}

/* Acknowledges what was never synced. */
WRAP(int, sim_disk_sync, int fd)
{
    return broken("durability") ? 0 : __real_sim_disk_sync(fd);
}

/* Gives the queue from its end. */
WRAP(int, st_run_queue, struct storage *st, struct arena *a, int64_t pool_id, int largest,
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

/* Gives what is kept for others. */
WRAP(bool, ahead_allows, const struct ahead *h, const struct ahead_want *w, size_t node,
     int64_t *by)
{
    return broken("backfill") || __real_ahead_allows(h, w, node, by);
}

/* Keeps nodes for the first that waits only. */
WRAP(void, ahead_keep, struct ahead *h, const struct ahead_want *w, const struct ahead_place *p,
     int64_t by)
{
    static const struct ahead *last;
    if (!broken("depth") || last != h)
        __real_ahead_keep(h, w, p, by);
    last = h;
}

/* Does not find what is lent. */
WRAP(void, machines_lent, const struct fleet *fl, struct arena *a, const char *vm_size,
     int64_t **nodes, size_t *n)
{
    __real_machines_lent(fl, a, vm_size, nodes, n);
    if (broken("lending"))
        *n = 0;
}

/* Lets automatic scaling take nodes that are in use. */
WRAP(void, plan_scale, struct arena *a, const struct plan_scale_input *in,
     struct plan_scale_result *out)
{
    static int n;
    __real_plan_scale(a, in, out);
    for (size_t i = 0; broken("scaling") && in->scale.kind == SCALE_AUTO && i < in->n_nodes; i++)
        if (in->nodes[i].state == NODE_IDLE && in->nodes[i].live > 0 && out->n_leave == 0 &&
            ++n % 7 == 0)
            out->leave[out->n_leave++] = &in->nodes[i];
}

/* Forgets how many nodes there are already. */
WRAP(int, st_node_local_total, struct storage *st, const char *but_sizes, int64_t *n, struct err *e)
{
    int rc = __real_st_node_local_total(st, but_sizes, n, e);
    if (broken("capacity"))
        *n = 0;
    return rc;
}

/* Names what runs by the life of the daemon that asks, not by that which began it: what a life
 * before began is begun again. */
WRAP(int, st_allocation_of_run, struct storage *st, struct arena *a, int64_t run_id, int attempt,
     struct allocation **rows, size_t *n, struct err *e)
{
    int rc = __real_st_allocation_of_run(st, a, run_id, attempt, rows, n, e);
    const struct epoch *now = st_epoch(st);
    for (size_t i = 0; rc == 0 && broken("once") && i < *n; i++)
        if ((*rows)[i].term != now->term)
            (*rows)[i].task_prefix = arena_printf(a, "%s%s-", (*rows)[i].task_prefix, now->random);
    return rc;
}

/* Names what runs by the ids of its rows, which repeat when a backup is put back. */
WRAP(const char *, st_task_prefix, struct storage *st, struct arena *a, const struct run *r,
     int rank)
{
    if (!broken("names"))
        return __real_st_task_prefix(st, a, r, rank);
    return arena_printf(a, "00000000-0000-4000-8000-%012lld-%d-%d-", (long long)r->id, r->attempt,
                        rank);
}

/* Loses some of what should wake a pool. */
WRAP(void, wake, struct wakes *w, const struct wake_kind *kind, int64_t id)
{
    static int n;
    if (!broken("waking") || kind != &woken_pool || ++n % 3 != 0)
        __real_wake(w, kind, id);
}

/* Some changes of state leave no event. */
WRAP(int, st_event_add, struct storage *st, const struct event *ev, struct err *e)
{
    static int n;
    return broken("events") && ++n % 5 == 0 ? 0 : __real_st_event_add(st, ev, e);
}

/* Events outlive what they are of. */
WRAP(int, st_event_forget, struct storage *st, enum resource_kind kind, int64_t id, struct err *e)
{
    return broken("pruning") ? 0 : __real_st_event_forget(st, kind, id, e);
}

/* Does not see who has parts of a node already. */
WRAP(int, st_allocation_of_node, struct storage *st, struct arena *a, int64_t node_id,
     struct allocation **rows, size_t *n, struct err *e)
{
    int rc = __real_st_allocation_of_node(st, a, node_id, rows, n, e);
    if (broken("parts"))
        *n = 0;
    return rc;
}

/* Takes machines that are drained as if they were not. */
WRAP(bool, machines_use, const struct fleet *fl, int64_t id, struct machine_use *out)
{
    bool found = __real_machines_use(fl, id, out);
    if (found && broken("drains"))
        out->drained = false;
    return found;
}

/* Says that it has exported, or ended an export, and has not. */
WRAP(void, export_begin, struct server_work *w)
{
    if (broken("exports"))
        w->finished(w);
    else
        __real_export_begin(w);
}

/* Takes the first process that succeeds for all. */
WRAP(bool, launch_succeeded, const struct launch_plan *plan, const bool *over)
{
    struct launch_plan first = *plan;
    if (broken("all"))
        first.end = LAUNCH_ENDS_WITH_FIRST;
    return __real_launch_succeeded(&first, over);
}

/* Takes for exported what a backup brings back. */
WRAP(int, st_file_server_served_ids, struct storage *st, struct arena *a, int64_t **ids, size_t *n,
     struct err *e)
{
    int rc = __real_st_file_server_served_ids(st, a, ids, n, e);
    if (broken("exports-again"))
        *n = 0;
    return rc;
}

/* Does not see who runs on a machine that is to be restarted. */
static bool rebooting;
WRAP(int, fleet_machine_reboot, struct fleet *fl, const char *name, struct err *e)
{
    rebooting = true;
    int rc = __real_fleet_machine_reboot(fl, name, e);
    rebooting = false;
    return rc;
}

WRAP(int, st_node_by_id, struct storage *st, struct arena *a, int64_t id, struct node *out,
     struct err *e)
{
    int rc = __real_st_node_by_id(st, a, id, out, e);
    if (rc == 1 && rebooting && broken("reboots"))
        out->live = 0;
    return rc;
}

/* Holds nobody who waits for others. */
WRAP(int, st_dependency_add, struct storage *st, struct arena *a, const struct dependency *rows,
     size_t n, int64_t now_us, struct err *e)
{
    return broken("dependencies") ? 0 : __real_st_dependency_add(st, a, rows, n, now_us, e);
}

/* An array forgets how many of it may run at once, and who wants a node alone that it does. */
WRAP(int, st_run_insert, struct storage *st, const struct run *r, int64_t *id, struct err *e)
{
    struct run row = *r;
    if (broken("arrays"))
        row.held = HOLD_NOT;
    if (broken("alone") && row.need.slots > 1)
        row.need.slots = 1;
    return __real_st_run_insert(st, &row, id, e);
}

static int find_none(const char *what, int rc, size_t *n)
{
    if (rc == 0 && broken(what))
        *n = 0;
    return rc;
}

/* A resize that was under way is forgotten by a restart. */
WRAP(int, st_batch_pool_unsettled_ids, struct storage *st, struct arena *a, int64_t **ids,
     size_t *n, struct err *e)
{
    return find_none("resizes", __real_st_batch_pool_unsettled_ids(st, a, ids, n, e), n);
}

/* So is that a formula scales a pool. */
WRAP(int, st_batch_pool_scaled_ids, struct storage *st, struct arena *a, int64_t **ids, size_t *n,
     struct err *e)
{
    return find_none("formulas", __real_st_batch_pool_scaled_ids(st, a, ids, n, e), n);
}

/* --- tasks of Azure Batch --------------------------------------------------------------------- */

/* What a lost turn has written is never written again. */
WRAP(void, wake_if_lost, struct wakes *w, const struct wake_kind *kind, int64_t id)
{
    if (!broken("lost-turns"))
        __real_wake_if_lost(w, kind, id);
}

/* Tries are not counted. */
WRAP(int, st_batch_task_move, struct storage *st, const struct st_batch_task_move *m, struct err *e)
{
    struct st_batch_task_move one = *m;
    one.retried = one.retried && !broken("retries");
    return __real_st_batch_task_move(st, &one, e);
}

/* Tasks wait for nothing, */
WRAP(int, st_batch_wait_add, struct storage *st, const struct batch_task *t, const char *name,
     struct err *e)
{
    return broken("task-dependencies") ? 0 : __real_st_batch_wait_add(st, t, name, e);
}

/* or are not told of some that they wait for. */
WRAP(int, st_batch_wait_settle, struct storage *st, const struct batch_task *t,
     const struct st_batch_settling *how, bool *left, struct err *e)
{
    *left = false;
    return broken("task-ends") ? 0 : __real_st_batch_wait_settle(st, t, how, left, e);
}

/* A job forgets how many of its tasks may run at once. */
WRAP(int, st_batch_task_count_fed, struct storage *st, int64_t job_id, int64_t *n, struct err *e)
{
    int rc = __real_st_batch_task_count_fed(st, job_id, n, e);
    if (broken("parallel"))
        *n = 0;
    return rc;
}

/* A newer job keeps its place before an older one that gets tasks. */
WRAP(int, st_batch_task_waiting, struct storage *st, struct arena *a, int64_t pool_id, int priority,
     int64_t after, int64_t **rows, size_t *n, struct err *e)
{
    return find_none("job-order",
                     __real_st_batch_task_waiting(st, a, pool_id, priority, after, rows, n, e), n);
}

/* Parts of tasks on several nodes are not noted. */
WRAP(int, st_batch_subtask_begin, struct storage *st, const struct batch_subtask *s, struct err *e)
{
    return broken("subtasks") ? 0 : __real_st_batch_subtask_begin(st, s, e);
}

/* A command does not wait for the coordination of its nodes. */
WRAP(bool, plan_program, struct arena *a, const struct launch_input *in, struct launch_plan *out,
     struct failure *why)
{
    bool good = __real_plan_program(a, in, out, why);
    for (size_t i = 0; good && broken("coordination") && i < out->n; i++)
        if (out->processes[i].role == LAUNCH_PREPARATION)
            out->processes[i].role = LAUNCH_MAIN;
    return good;
}

/* Jobs do not end with their managers, */
WRAP(int, batch_job_terminate, struct batch_front *f, const struct batch_job *j, const char *reason,
     bool by_user, int64_t now_us, struct err *e)
{
    if (broken("managers") && reason && strcmp(reason, "JMComplete") == 0)
        return 0;
    return __real_batch_job_terminate(f, j, reason, by_user, now_us, e);
}

/* nor pools with the jobs that they were made for. */
WRAP(int, auto_pool_end_of_job, struct batch_front *f, const struct batch_job *j, struct err *e)
{
    return broken("own-pools") ? 0 : __real_auto_pool_end_of_job(f, j, e);
}

/* Forgets what was had of nodes that were given up, */
WRAP(int, st_usage_write, struct storage *st, struct usage_live *live,
     const struct allocation_end *end, struct err *e)
{
    if (broken("record") && end->to == ALLOCATION_LOST)
        return 0;
    return __real_st_usage_write(st, live, end, e);
}

/* or a part of the sums of days. */
WRAP(int, st_usage_day_add, struct storage *st, int64_t day, int64_t subject_id,
     const struct usage_sums *s, struct err *e)
{
    static int n;
    return broken("record-days") && ++n % 5 == 0
               ? 0
               : __real_st_usage_day_add(st, day, subject_id, s, e);
}
