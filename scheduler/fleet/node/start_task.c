/* SPDX-License-Identifier: MIT
 *
 * A set-up task that continues while its node gets runs. Its row records this, and the task's id,
 * in the transaction that makes the node idle; so each link to the node, and each daemon, finds the
 * task again. Taking the node out of use needs no call here: a preparation or a release ends the
 * task with all other tasks.
 */
#include <stdlib.h>

#include "scheduler/fleet/node/secret_refs.h"
#include "scheduler/fleet/node/setup.h"

struct node_beside {
    struct node_beside *older; /* halted entries: the link may still answer their requests */
    bool halted;
    struct arena a;
    struct node_setup_spec spec;
    struct setup_run run;
};

static void drop(struct node_beside *b)
{
    setup_run_free(&b->run);
    node_setup_wipe(&b->spec);
    arena_free(&b->a);
    free(b);
}

static void beside_free(struct node_rt *rt)
{
    for (struct node_beside *b = rt->beside.last, *older; b; b = older) {
        older = b->older;
        drop(b);
    }
    rt->beside = (struct node_besides){.last = NULL};
}

void node_beside_halt(struct node_rt *rt)
{
    struct node_beside *b = rt->beside.last;
    rt->beside.looked = false;
    if (!b || b->halted)
        return;
    b->halted = true;
    if (b->run.script)
        script_halt(b->run.script);
}

static void on_task_ended(struct node_rt *rt, const struct task_status *st)
{
    struct node_beside *b = rt->beside.last;
    if (b && !b->halted && b->run.script)
        script_task_ended(b->run.script, st);
}

/* --- its end ---------------------------------------------------------------------------------- */

static void effect_over(void *ctx, int64_t id, const struct err *why)
{
    struct fleet *fl = ctx;
    struct node_rt *rt = node_rt_find(fl, id);
    if (rt && why)
        rt->beside.looked = false; /* the write failed, so the row is still in state running */
    else if (rt)
        node_prepare_is_durable(rt);
    wake_after(fl->wakes, &woken_node, id, why);
}

static void log_end(const struct node_rt *rt, const struct failure *why)
{
    LOG_INFO(rt->fleet->log, "node.setup_ended", LF_STR("node", rt->name),
             LF_STR("why", why ? why->message : NULL));
}

static void end(struct node_rt *rt)
{
    struct node_beside *b = rt->beside.last;
    log_end(rt, b->run.why);
    rt->setup.durable = false;
    node_set_text(&rt->setup.id, setup_run_try(&b->run));
    if (b->run.script && script_busy(b->run.script)) {
        node_beside_halt(rt);
    } else {
        rt->beside.last = b->older;
        drop(b);
    }
    rt->beside.looked = true; /* the task has ended */
    wake_when_durable(rt->fleet->wakes, effect_over, rt->fleet, rt->id);
}

/* --- going on --------------------------------------------------------------------------------- */

static void log_trouble(const struct node_rt *rt, const char *why)
{
    LOG_WARN(rt->fleet->log, "node.setup_not_read", LF_STR("node", rt->name), LF_STR("why", why));
}

/* The pool no longer has a set-up task, or its settings cannot be read: the result is not
 * needed. */
static void give_up(struct node_rt *rt, struct node_setup *row, const char *why)
{
    struct err e = {0};
    log_trouble(rt, why);
    row->runs = false;
    row->beside = NULL;
    row->end_us = wakes_wall(rt->fleet->wakes);
    row->failure = FAIL_NODE_SETUP_FAILED;
    row->why = why;
    if (st_node_setup_put(rt->fleet->st, row, &e) < 0)
        log_trouble(rt, e.msg);
}

/* False: the node has no such task. */
static bool begin(struct node_rt *rt, const struct node *row, struct node_beside *b)
{
    struct failure why;
    struct err e = {0};
    const struct secret_reader reader = {
        .front = rt->front, .st = rt->fleet->st, .a = &b->a, .pool_id = rt->pool_id};
    int rc = st_node_setup_get(rt->fleet->st, &b->a, rt->id, &b->run.row, &e);
    if (rc < 0)
        log_trouble(rt, e.msg);
    if (rc <= 0 || !setup_is_beside(&b->run.row))
        return false;
    const char *trouble = NULL;
    if (node_load_pool(rt, &b->a, &b->spec, &e) < 0)
        trouble = e.msg;
    else if (!b->spec.setup_task || !b->spec.setup_task->place)
        trouble = "there is none any more";
    else if (!secret_refs_of_pool(&reader, &b->spec, &why))
        trouble = why.message;
    if (trouble) {
        give_up(rt, &b->run.row, trouble);
        return false;
    }
    b->run.rt = rt;
    b->run.task = b->spec.setup_task;
    b->run.id = b->run.row.beside;
    b->run.dedicated = row->vm_priority == VM_DEDICATED;
    setup_run_begin(&b->run);
    return true;
}

static void look(struct node_rt *rt, const struct node *row)
{
    struct node_beside *b = xcalloc(1, sizeof *b);
    arena_init(&b->a);
    rt->beside.looked = true;
    if (!begin(rt, row, b)) {
        drop(b);
        return;
    }
    b->older = rt->beside.last;
    rt->beside.last = b;
}

void node_beside(struct node_rt *rt, const struct node *row)
{
    if (!rt->beside.looked)
        look(rt, row);
    struct node_beside *b = rt->beside.last;
    if (b && !b->halted && setup_run_over(&b->run))
        end(rt);
}

const struct node_work node_beside_work = {
    .link_down = beside_free, .task_ended = on_task_ended, .free = beside_free};
