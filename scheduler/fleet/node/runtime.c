/* SPDX-License-Identifier: MIT
 *
 * The reconciler of nodes: compares the row of a node with its known state, and takes the next
 * step.
 *
 * A node is given up when too many links in a row break, or when a machine is silent for too long
 * or has changed. Then it is unusable, and its runs are lost. From then on the link is tried in the
 * background. When the node can be reached again, it is prepared again: a preparation ends every
 * running task, and waits for its end, before any new task starts.
 */
#include <assert.h>
#include <string.h>

#include "model/states.h"
#include "scheduler/fleet/node/node_priv.h"

/* --- failing -------------------------------------------------------------------------------- */

/* Closes the link first: this answers all pending requests. The other tenants repeat their requests
 * over the next link. */
void node_give_up(struct node_tenant *t, const struct failure *why)
{
    struct node_rt *rt = t->node;
    node_rt_close(rt);
    node_detach(t);
    t->events->gone(t);
    node_lose(rt, why);
}

/* Whether the node is prepared again as soon as it can be reached. */
static bool heals(const struct node *row)
{
    return row->state == NODE_UNUSABLE && failure_heals(row->failure);
}

static struct failure local_lost(struct arena *a, const struct node_rt *rt, const char *why)
{
    return (struct failure){
        .code = FAIL_NODE_LOST,
        .message = arena_printf(a, "Contact with the node was lost %d times in a row: %s",
                                rt->contact.failures, why),
        .step = "connect",
        .remedy = front_text(words_of_node(rt), a,
                             "check that the agent can run on the node; the daemon tries again "
                             "every half minute and when the {pool} is resized"),
        .exit_code = -1};
}

static struct failure machine_lost(struct arena *a, const struct node_rt *rt, const char *why)
{
    struct failure f = {.step = "connect", .exit_code = -1};
    const char *name = rt->machine->name;
    if (rt->contact.refused) {
        f.code = FAIL_NODE_REFUSED;
        f.message = arena_printf(a, "Machine %s cannot be used: %s", name, why);
        f.remedy =
            front_text(words_of_node(rt), a,
                       "solve the problem in the message; the daemon tries the machine again every "
                       "5 minutes, and at once when it is undrained or the {pool} is resized");
        return f;
    }
    int64_t silent_s = (wakes_mono(rt->fleet->wakes) - rt->contact.lost_us) / 1000000;
    f.code = FAIL_NODE_UNREACHABLE;
    if (rt->contact.let_in) {
        f.message = arena_printf(a, "The agent did not start on machine %s, in %d tries: %s", name,
                                 rt->contact.failures, why);
        f.remedy = "solve the problem in the message; the daemon then tries again automatically";
        return f;
    }
    f.message = arena_printf(a, "Machine %s could not be reached for %lld s, in %d tries: %s", name,
                             (long long)silent_s, rt->contact.failures, why);
    f.remedy = "check that the machine is up and can be reached; the daemon tries again "
               "automatically, and uses it when it answers";
    return f;
}

static void node_lost(struct node_rt *rt)
{
    struct arena a;
    arena_init(&a);
    const char *why = rt->contact.why_down ? rt->contact.why_down : "no reason given";
    const struct failure f = (rt->machine ? machine_lost : local_lost)(&a, rt, why);
    node_set_text(&rt->contact.why_told, why);
    if (!rt->machine)
        node_connect_pause(rt);
    node_tell_gone(rt);
    node_lose(rt, &f);
    arena_free(&a);
}

void fleet_node_preempt(struct fleet *fl, int64_t node_id)
{
    static const struct failure why = {
        .code = FAIL_NODE_RECLAIMED,
        .message =
            "The node was preempted: its tasks and files are lost, and it is away for a while",
        .step = "connect",
        .remedy = "none needed: the node is prepared again when it comes back",
        .exit_code = -1};
    struct node_rt *rt = node_rt_find(fl, node_id);
    if (!rt)
        return;
    node_rt_close(rt);
    node_connect_pause(rt);
    node_tell_gone(rt);
    node_lose(rt, &why);
}

/* Whether the row of an unusable machine must be updated: its errors contain another reason than
 * the present one. */
static bool told_otherwise(const struct node_rt *rt)
{
    return rt->machine && rt->contact.why_down &&
           (!rt->contact.why_told || strcmp(rt->contact.why_told, rt->contact.why_down) != 0);
}

/* --- a node that has changed ------------------------------------------------------------------ */

static const struct failure changes[] = {
    /* The root was wiped or replaced: the agent does not know earlier tasks. */
    [NODE_REPLACED] = {.code = FAIL_NODE_ROOT_REPLACED,
                       .message = "The node has a new root directory: its tasks and files are lost",
                       .step = "connect",
                       .remedy = "none needed: the node is prepared again",
                       .exit_code = -1},
    /* Mounts and processes are gone. */
    [NODE_REBOOTED] = {.code = FAIL_NODE_REBOOTED,
                       .message = "The node was restarted: its running tasks are lost",
                       .step = "connect",
                       .remedy = "none needed: the node is prepared again",
                       .exit_code = -1},
};
static_assert(sizeof changes / sizeof changes[0] == NODE_REPLACED + 1, "a row a change");

/* If the root is new, the preparation just continues; after a reboot the record of its setup task
 * still exists, so the preparation must begin again under another name. A reboot that was asked for
 * has happened: a daemon that starts afterwards must not ask for it again. */
static bool is_failed_by(const struct node *row, enum node_likeness change)
{
    return row->state == NODE_IDLE || (row->state == NODE_PREPARING && change == NODE_REBOOTED) ||
           (row->state == NODE_UNUSABLE && row->failure == FAIL_NODE_REBOOTING);
}

/* The name of the machine whose node has this root, although the inventory has another name for it;
 * NULL: none. */
static const char *other_name(const struct node_rt *rt)
{
    const struct id_map *nodes = &rt->fleet->nodes;
    bool has_root = *rt->seen.incarnation != '@';
    for (size_t i = 0; rt->machine && has_root && i < nodes->n; i++) {
        const struct node_rt *other = nodes->e[i].p;
        if (other->machine && other->machine != rt->machine && other->seen.incarnation &&
            strcmp(other->seen.incarnation, rt->seen.incarnation) == 0)
            return other->machine->name;
    }
    return NULL;
}

/* Two names of one machine, as after a reload that renamed it: only the node of the first may use
 * it, because the preparation of another would end its runs. */
static bool is_another_node(struct node_rt *rt)
{
    const char *name = other_name(rt);
    if (!name)
        return false;
    struct arena a;
    arena_init(&a);
    node_set_text(&rt->seen.incarnation, NULL); /* it is the other node's */
    node_rt_distrust(rt, arena_printf(&a,
                                      "this is the machine %s under another name: it can be used "
                                      "under this name when its node there has left",
                                      name));
    arena_free(&a);
    return true;
}

/* Compares hello with the row and updates the row. True: the node can be used; false: the node has
 * changed, or the write failed. */
static bool same_as_row(struct node_rt *rt, const struct node *row)
{
    if (row->incarnation && strcmp(row->incarnation, rt->seen.incarnation) == 0)
        return true;
    if (is_another_node(rt))
        return false;
    enum node_likeness change =
        row->incarnation ? node_compare(row->incarnation, rt->seen.incarnation) : NODE_SAME;
    struct err e = {0};
    if (st_node_set_incarnation(rt->fleet->st, rt->id, rt->seen.incarnation,
                                change == NODE_REPLACED, wakes_wall(rt->fleet->wakes), &e) != 0) {
        LOG_ERROR(rt->fleet->log, "node.restart_not_written", LF_STR("node", rt->name),
                  LF_STR("why", e.msg));
        wake_by(rt->fleet->wakes, &woken_node, rt->id,
                wakes_mono(rt->fleet->wakes) + WRITE_AGAIN_US);
        return false;
    }
    wake_durable(rt->fleet->wakes, &woken_node, rt->id);
    if (change == NODE_SAME || (change == NODE_REPLACED && row->state == NODE_PREPARING))
        return true;
    rt->contact.reboots = REBOOTS_MAX;
    node_tell_gone(rt);
    if (is_failed_by(row, change))
        node_lose(rt, &changes[change]);
    return false;
}

/* Whether all tasks without a row have ended. No other task may start before. */
static bool unknown_ended(struct node_rt *rt)
{
    struct failure why;
    switch (node_unknown_end(rt, &why)) {
    case UNKNOWN_NONE:
        return true;
    case UNKNOWN_ENDING:
        return false;
    case UNKNOWN_STUCK:
        node_lose(rt, &why);
        node_unknown_free(rt);
        return false;
    case UNKNOWN_UNREACHED:
        node_rt_distrust(rt, why.message);
        return false;
    }
    return false;
}

static bool greet(struct node_rt *rt, const struct node *row)
{
    if (!same_as_row(rt, row) || !node_capacity_as_row(rt, row))
        return false;
    if (row->state == NODE_IDLE && !unknown_ended(rt))
        return false;
    if (!rt->contact.greeted) {
        rt->contact.greeted = true;
        rt->swept = false;
        node_forget_gpu_runs(rt);
        if (row->state == NODE_IDLE)
            node_prepare_forget(rt);
        node_forget_again(rt);
        node_tell_ready(rt);
        node_samples_begin(rt);
    }
    return true;
}

/* --- reconciling ---------------------------------------------------------------------------- */

/* How long (us) the link to an unusable node is kept open, or tried, for a client that reads
 * files. */
#define READ_US 60000000

bool node_rt_is_read(const struct node_rt *rt)
{
    int64_t since_us = rt->noted.read_us;
    return since_us > 0 && wakes_mono(rt->fleet->wakes) < since_us + READ_US;
}

/* An unusable node that only a person can repair: its output shows the cause, and can be read while
 * its agent answers. */
static bool is_only_read(const struct node_rt *rt, const struct node *row)
{
    return row->state == NODE_UNUSABLE && !rt->tenants && !rt->noted.heals;
}

/* A link is kept as long as there is work to do, a task to watch, or a file to read. */
static bool wants_link(const struct node_rt *rt, const struct node *row)
{
    switch (row->state) {
    case NODE_PREPARING:
    case NODE_IDLE:
        return true;
    case NODE_LEAVING:
        return rt->tenants != NULL;
    case NODE_UNUSABLE:
        return rt->tenants != NULL || rt->noted.heals || rt->contact.state == CONNECTION_READY ||
               node_rt_is_read(rt);
    }
    return false;
}

/* Whether an unusable node may be prepared. If its disk is full, only a wipe may begin, unless the
 * last wipe freed too little. */
static bool may_prepare(const struct node_rt *rt, const struct node *row)
{
    return rt->noted.heals && !rt->tenants && row->live == 0 &&
           (!rt->room.closed || (row->wish == IS_BEING_WIPED && row->failure != FAIL_NODE_DISK));
}

/* The node answers again: begins its preparation, which must succeed before any run starts. */
static void prepare_healed(struct node_rt *rt, const struct node *row)
{
    const struct st_node_move m = {.id = row->id,
                                   .from = row->state,
                                   .to = node_next(row->state, NODE_EV_RETRY),
                                   .now_us = wakes_wall(rt->fleet->wakes)};
    struct err e = {0};
    if (st_node_move(rt->fleet->st, &m, &e) != 0) {
        LOG_ERROR(rt->fleet->log, "node.retry_not_written", LF_STR("node", rt->name),
                  LF_STR("why", e.msg));
        wake_by(rt->fleet->wakes, &woken_node, rt->id,
                wakes_mono(rt->fleet->wakes) + WRITE_AGAIN_US);
        return;
    }
    LOG_INFO(rt->fleet->log, "node.preparing", LF_STR("node", rt->name));
    wake_durable(rt->fleet->wakes, &woken_node, rt->id);
    fleet_pool_changed(rt->fleet, row->pool_id);
}

static void go_on_preparing(struct node_rt *rt, const struct node *row)
{
    if (!node_room_before_preparing(rt, row) || node_prepare_report(rt))
        return;
    if (node_prepare_over(rt))
        node_rt_close(rt); /* the preparation begins again over a new link */
    else
        node_prepare(rt, row);
}

static void use_link(struct node_rt *rt, const struct node *row)
{
    switch (row->state) {
    case NODE_PREPARING:
        go_on_preparing(rt, row);
        break;
    case NODE_IDLE:
        if (node_room_lose_idle(rt, row))
            break;
        node_watch(rt);
        node_beside(rt, row);
        break;
    case NODE_UNUSABLE:
        if (node_reboot_waits(rt, row))
            break;
        if (wakes_mono(rt->fleet->wakes) < rt->contact.retry_us)
            node_rt_close(rt); /* the machine is rebooting: the link is opened afterwards */
        else if (node_reboot_again(rt, row))
            break;
        else if (may_prepare(rt, row))
            prepare_healed(rt, row);
        break;
    case NODE_LEAVING:
        break;
    }
}

/* In strict mode, a new node is not used at first, as if the real service were still creating
 * it. */
static bool is_being_created(const struct node_rt *rt, const struct node *row)
{
    return row->state == NODE_PREPARING && !row->incarnation &&
           wake_until_over(rt->fleet->wakes, &woken_node, row->id, row->created_us,
                           front_takes_us(rt->front, STEP_NODE_CREATION, row->pool_id));
}

static bool is_leaving_still(const struct node_rt *rt, const struct node *row)
{
    return wake_until_over(rt->fleet->wakes, &woken_node, row->id, row->state_us,
                           front_takes_us(rt->front, STEP_NODE_LEAVING, row->pool_id));
}

static void keep_link(struct node_rt *rt, const struct node *row)
{
    if (is_being_created(rt, row))
        return;
    if (is_only_read(rt, row)) { /* its row already contains the reason why it is unusable */
        node_connect_want(rt);
        if (rt->contact.state == CONNECTION_READY)
            (void)greet(rt, row);
        return;
    }
    bool holds_nothing =
        row->state == NODE_PREPARING || (row->state == NODE_UNUSABLE && !rt->tenants);
    bool given_up = row->state == NODE_UNUSABLE && !rt->tenants;
    if (node_connect_hopeless(rt, holds_nothing) && (!given_up || told_otherwise(rt))) {
        node_lost(rt);
        return;
    }
    node_connect_want(rt);
    if (rt->contact.state != CONNECTION_READY || !greet(rt, row))
        return;
    node_watch_pulse(rt, row);
    if (rt->contact.state != CONNECTION_READY)
        return;
    node_sweep(rt);
    node_tell_gpu_runs(rt);
    node_sweep_archives(rt, row);
    use_link(rt, row);
}

/* Updates the state in memory from the row. */
static void note_state(struct node_rt *rt, const struct node *row)
{
    bool was_unusable = rt->noted.unusable;
    rt->noted.unusable = row->state == NODE_UNUSABLE;
    rt->noted.heals = heals(row);
    rt->noted.reached = row->incarnation != NULL;
    if (row->state != NODE_IDLE) {
        node_watch_stop(rt);
        node_beside_halt(rt);
    }
    if (row->state != NODE_PREPARING)
        node_prepare_cancel(rt);
    else if (was_unusable) /* a request (for example a resize) wants a new try: at once */
        node_connect_forgive(rt);
}

/* The machine is not in the inventory any more, so it cannot be reached. */
static void strike_off(struct node_rt *rt, const struct node *row)
{
    struct arena a;
    arena_init(&a);
    const struct failure f = {
        .code = FAIL_NODE_NOT_IN_INVENTORY,
        .message =
            arena_printf(&a, "Machine %s is not in the inventory any more", rt->machine->name),
        .step = "connect",
        .remedy = front_text(words_of_node(rt), &a,
                             "put the machine back into the inventory, or make the {pool} smaller: "
                             "unusable nodes go first"),
        .exit_code = -1};
    node_tell_gone(rt);
    if (row->state == NODE_LEAVING && row->live == 0)
        node_leave(rt);
    else if (row->state != NODE_LEAVING && row->state != NODE_UNUSABLE)
        node_lose(rt, &f);
    arena_free(&a);
}

static void reconcile_row(struct fleet *fl, const struct node *row)
{
    struct node_rt *rt = node_rt_get(fl, row);
    node_check(rt);
    note_state(rt, row);
    if (node_lose_again(rt))
        return; /* the node is woken when its failure is written */
    if (rt->machine && !rt->machine->site)
        strike_off(rt, row);
    else if (wants_link(rt, row))
        keep_link(rt, row);
    else if (row->state != NODE_LEAVING || row->live > 0)
        node_rt_close(rt);
    else if (!is_leaving_still(rt, row))
        node_leave(rt);
}

/* When the scheduler stops, frees a node without a link. */
static void forget_if_stopping(struct node_rt *rt)
{
    if (wakes_stopping(rt->fleet->wakes))
        node_rt_free(rt);
}

static const struct node_work memory_work = {.link_closed = forget_if_stopping};

/* The end of a command may concern the watch as well as a preparation or release, so the watch
 * comes first. The work that may free the node comes last. */
const struct node_work *const node_works[] = {
    &node_watch_work, &node_prepare_work, &node_unknown_work, &node_beside_work,
    &node_leave_work, &node_release_work, &memory_work,       NULL};

void node_reconcile(void *ctx, int64_t id)
{
    struct fleet *fl = ctx;
    struct node_rt *rt = node_rt_find(fl, id);
    if (id < 0) {
        if (rt)
            node_leave(rt);
        return;
    }
    struct arena a;
    arena_init(&a);
    struct err e = {0};
    struct node row;
    int rc = st_node_by_id(fl->st, &a, id, &row, &e);
    if (rc > 0)
        reconcile_row(fl, &row);
    else if (rc < 0)
        LOG_ERROR(fl->log, "node.reconcile_failed", LF_INT("node_id", id), LF_STR("why", e.msg));
    else if (rt && rt->contact.state == CONNECTION_NONE && !rt->tenants)
        node_rt_free(rt);
    else if (rt)
        node_rt_close(rt);
    arena_free(&a);
}
