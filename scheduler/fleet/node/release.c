/* SPDX-License-Identifier: MIT
 *
 * Releases a machine: kills running tasks and waits for their ends, removes the files of
 * preparations and runs, and makes the node forget all tasks. The node root itself and the agent's
 * program stay.
 *
 * A machine that cannot be reached, or on which a step fails, is nevertheless released after a
 * while, because its pool cannot wait forever. This needs no record: every preparation, also for
 * the next pool, begins by ending all tasks that it does not know, waiting for their ends, and
 * removing the files of runs.
 */
#include <stdlib.h>

#include "scheduler/fleet/container/container.h"
#include "scheduler/fleet/mount/mounts.h"
#include "scheduler/fleet/node/node_priv.h"

/* How often the steps may be begun, and how long they may take in all (us). */
#define ROUNDS_MAX 3
#define LONGEST_US 120000000

struct node_release {
    struct arena a;
    struct script *script; /* NULL: not begun over this link */
    int rounds;
    int64_t until_us; /* 0: the release has not begun */
    bool over;
};

static void forget_script(struct node_release *r)
{
    if (r->script)
        script_halt(r->script);
    r->script = NULL;
    arena_free(&r->a);
    arena_init(&r->a);
}

static void release_free(struct node_rt *rt)
{
    if (!rt->release)
        return;
    forget_script(rt->release);
    arena_free(&rt->release->a);
    free(rt->release);
    rt->release = NULL;
}

static void halt(struct node_rt *rt)
{
    if (rt->release && rt->release->script)
        script_halt(rt->release->script);
}

static void on_link_down(struct node_rt *rt)
{
    if (rt->release)
        forget_script(rt->release);
}

static void on_task_ended(struct node_rt *rt, const struct task_status *st)
{
    if (rt->release && rt->release->script)
        script_task_ended(rt->release->script, st);
}

const struct node_work node_release_work = {
    .halt = halt, .link_down = on_link_down, .task_ended = on_task_ended, .free = release_free};

void node_release_steps(struct node_rt *rt, struct arena *a, struct script *sc)
{
    static const char *const made[] = {RUNS_DIR, "setup", "health", "images", "sudo"};
    const struct script_label accounts = {
        .code = FAIL_NODE_RELEASE_FAILED, .what = "remove accounts", .may_fail = true};
    const struct script_label ways = {.code = FAIL_NODE_RELEASE_FAILED,
                                      .what = "close the ways to other nodes",
                                      .may_fail = true};
    if (rt->seen.is_root)
        script_ask(sc, &accounts, REQUEST(user_remove, .name = NULL));
    if (rt->seen.runtimes && *rt->seen.runtimes)
        container_add_sweep(sc, a, words_of_node(rt), rt->root,
                            arena_printf(a, "%ssweep", node_task_prefix(rt, a, NULL, "release")));
    mount_release_steps(rt, sc, a);
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        const struct script_label label = {.code = FAIL_NODE_RELEASE_FAILED,
                                           .what = arena_printf(a, "remove %s", made[i]),
                                           .may_fail = true};
        script_ask(sc, &label,
                   REQUEST(remove_tree, .path = arena_printf(a, "%s/%s", rt->root, made[i])));
    }
    if (words_of_node(rt)->home) {
        const struct script_label label = {.code = FAIL_NODE_RELEASE_FAILED,
                                           .what = "remove what its users left",
                                           .may_fail = true};
        script_ask(
            sc, &label,
            REQUEST(remove_tree, .path = arena_concat(a, rt->root, "/", words_of_node(rt)->home)));
    }
    script_ask(sc, &ways, REQUEST(remote_close, .run = NULL));
    node_account_release_step(rt, a, sc, NULL);
}

static void on_changed(void *ctx)
{
    struct node_rt *rt = ctx;
    wake(rt->fleet->wakes, &woken_node, rt->id);
}

static void begin(struct node_rt *rt)
{
    struct node_release *r = rt->release;
    const struct script_label kill = {.code = FAIL_NODE_RELEASE_FAILED,
                                      .what = "kill what runs there"};
    r->rounds++;
    r->script = script_new(&r->a, rt->fleet->log, rt->name);
    script_kill_tasks(r->script, &kill, "", NULL, true, NULL);
    node_release_steps(rt, &r->a, r->script);
    script_run(r->script, rt->contact.link, on_changed, rt);
}

static void give_up(struct node_rt *rt, const char *why)
{
    LOG_WARN(rt->fleet->log, "node.not_cleaned", LF_STR("node", rt->name),
             LF_STR("machine", rt->machine->name), LF_STR("why", why));
    rt->release->over = true;
}

static void clean(struct node_rt *rt)
{
    struct node_release *r = rt->release;
    if (!r->script)
        begin(rt);
    switch (script_state(r->script)) {
    case SCRIPT_RUNNING:
        break;
    case SCRIPT_DONE:
        machine_trouble(rt->fleet, rt->machine,
                        NULL); /* the machine's next node will report a problem */
        r->over = true;
        break;
    case SCRIPT_FAILED:
        if (r->rounds >= ROUNDS_MAX)
            give_up(rt, script_failure(r->script)->message);
        else
            node_rt_close(rt); /* the steps begin again over a new link */
        break;
    }
}

static void take_step(struct node_rt *rt)
{
    struct node_release *r = rt->release;
    int64_t now = wakes_mono(rt->fleet->wakes);
    if (r->until_us != 0 && now >= r->until_us) {
        give_up(rt, "it took too long");
    } else if (rt->contact.state == CONNECTION_READY) {
        if (r->until_us == 0)
            r->until_us = now + LONGEST_US;
        wake_by(rt->fleet->wakes, &woken_node, rt->id, r->until_us);
        clean(rt);
    } else if (!rt->machine->site || node_connect_hopeless(rt, false)) {
        give_up(rt,
                rt->machine->site ? rt->contact.why_down : "it is not in the inventory any more");
    } else {
        node_connect_want(rt);
    }
}

bool node_release(struct node_rt *rt)
{
    struct node_release *r = rt->release;
    if (!r) {
        r = rt->release = xcalloc(1, sizeof *r);
        arena_init(&r->a);
        r->over = !rt->noted.reached; /* no work was begun on the node */
    }
    if (!r->over)
        take_step(rt);
    if (r->over && rt->contact.state != CONNECTION_NONE)
        node_rt_close(rt);
    return r->over && rt->contact.state == CONNECTION_NONE;
}
