/* SPDX-License-Identifier: MIT
 *
 * On the first link to a node after a start of the daemon, ends the tasks that belong neither to a
 * live allocation nor to the set-up task's row. The node is used only after they have ended. Such
 * tasks exist after a restored backup of the database, or when a power cut lost a decision. A node
 * that is being prepared does not need this: its preparation ends every task.
 */
#include <stdlib.h>

#include "scheduler/fleet/node/node_priv.h"

/* How long (us) a node may take to answer. A node that does not answer may still send its link's
 * signs of life. */
#define ANSWER_US 60000000

struct unknown_tasks {
    struct arena a;
    struct script *script;
    int64_t asked_us;   /* since when an answer is awaited (monotonic); 0: none is */
    int64_t killing_us; /* since when the end of a killed task is awaited (monotonic); 0: no kill is
                           pending */
};

void node_unknown_free(struct node_rt *rt)
{
    struct unknown_tasks *k = rt->unknown;
    rt->unknown = NULL;
    if (!k)
        return;
    script_halt(k->script);
    arena_free(&k->a);
    free(k);
}

static void on_changed(void *ctx)
{
    const struct node_rt *rt = ctx;
    wake(rt->fleet->wakes, &woken_node, rt->id);
}

/* Finds the prefixes of the ids of tasks that may continue: the tasks of live allocations, and a
 * set-up task that runs beside them. */
static int known_prefixes(struct node_rt *rt, struct arena *a, const char *const **out, size_t *n,
                          struct err *e)
{
    struct allocation *live;
    const char *beside;
    if (st_allocation_of_node(rt->fleet->st, a, rt->id, &live, n, e) != 0 ||
        node_setup_beside(rt, a, &beside, e) != 0)
        return -1;
    const char **known = arena_alloc(a, (*n + 1) * sizeof *known);
    for (size_t i = 0; i < *n; i++)
        known[i] = live[i].task_prefix;
    if (beside)
        known[(*n)++] = beside;
    *out = known;
    return 0;
}

static int begin(struct node_rt *rt, struct err *e)
{
    static const struct script_label kill = {.code = FAIL_NODE_PREPARATION_FAILED,
                                             .what = "kill stray tasks"};
    struct unknown_tasks *k = xcalloc(1, sizeof *k);
    const char *const *known;
    size_t n;
    arena_init(&k->a);
    if (known_prefixes(rt, &k->a, &known, &n, e) != 0) {
        arena_free(&k->a);
        free(k);
        return -1;
    }
    k->script = script_new(&k->a, rt->fleet->log, rt->name);
    script_kill_unknown(k->script, &kill, known, n);
    rt->unknown = k;
    script_run(k->script, rt->contact.link, on_changed, rt);
    return 0;
}

static bool is_stuck(struct node_rt *rt, struct failure *why)
{
    struct unknown_tasks *k = rt->unknown;
    int64_t until;
    const char *task = script_awaits_end_of(k->script);
    if (!task) {
        k->killing_us = 0;
        return false;
    }
    if (node_kill_is_overdue(rt, task, &k->killing_us, &until, &k->a, why))
        return true;
    wake_by(rt->fleet->wakes, &woken_node, rt->id, until);
    return false;
}

static bool is_silent(struct node_rt *rt, struct failure *why)
{
    struct unknown_tasks *k = rt->unknown;
    int64_t now = wakes_mono(rt->fleet->wakes);
    if (script_awaits_end_of(k->script)) {
        k->asked_us = 0;
        return false;
    }
    if (k->asked_us == 0)
        k->asked_us = now;
    if (now < k->asked_us + ANSWER_US) {
        wake_by(rt->fleet->wakes, &woken_node, rt->id, k->asked_us + ANSWER_US);
        return false;
    }
    *why = (struct failure){
        .message = arena_printf(&k->a, "its agent has not reported for %lld s which tasks run",
                                (long long)(ANSWER_US / 1000000))};
    return true;
}

enum unknown_end node_unknown_end(struct node_rt *rt, struct failure *why)
{
    struct err e = {0};
    if (rt->no_unknown)
        return UNKNOWN_NONE;
    if (!rt->unknown && begin(rt, &e) != 0) {
        LOG_ERROR(rt->fleet->log, "node.allocations_not_read", LF_STR("node", rt->name),
                  LF_STR("why", e.msg));
        wake_by(rt->fleet->wakes, &woken_node, rt->id,
                wakes_mono(rt->fleet->wakes) + WRITE_AGAIN_US);
        return UNKNOWN_ENDING;
    }
    if (is_stuck(rt, why)) {
        rt->no_unknown = true; /* the next preparation waits for the end of the task */
        return UNKNOWN_STUCK;
    }
    switch (script_state(rt->unknown->script)) {
    case SCRIPT_RUNNING:
        return is_silent(rt, why) ? UNKNOWN_UNREACHED : UNKNOWN_ENDING;
    case SCRIPT_FAILED:
        *why = *script_failure(rt->unknown->script);
        return UNKNOWN_UNREACHED;
    case SCRIPT_DONE:
        break;
    }
    rt->no_unknown = true;
    node_unknown_free(rt);
    return UNKNOWN_NONE;
}

static void on_task_ended(struct node_rt *rt, const struct task_status *st)
{
    if (rt->unknown)
        script_task_ended(rt->unknown->script, st);
}

const struct node_work node_unknown_work = {
    .link_down = node_unknown_free, .task_ended = on_task_ended, .free = node_unknown_free};
