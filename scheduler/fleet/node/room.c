/* SPDX-License-Identifier: MIT
 *
 * struct node_room contains the known state of the disk. This is forgotten when the link breaks,
 * and then requested again (watch.c). Only an answer closes a node; a missing answer does not. A
 * run that waits for an answer is woken by the answer or by the next link.
 */
#include "scheduler/fleet/node/room.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/fleet/node/node_priv.h"

/* `since_us` may be the instant at which a question was sent; the answer to that question is recent
 * enough, too. */
enum room node_room_since(struct node_rt *rt, int64_t since_us)
{
    if (rt->room.known && rt->room.asked_us >= since_us)
        return rt->room.closed ? ROOM_NONE : ROOM_LEFT;
    if (!rt->room.wanted)
        wake(rt->fleet->wakes, &woken_node, rt->id);
    rt->room.wanted = true;
    return ROOM_ASKED;
}

const char *node_room_closed(const struct node_rt *rt)
{
    return rt->room.closed;
}

const char *fleet_node_closed(const struct fleet *fl, int64_t node_id)
{
    const struct node_rt *rt = node_rt_find(fl, node_id);
    return rt ? rt->room.closed : NULL;
}

/* The required free space is at most a quarter of the disk, because a small disk may have less than
 * the setting. */
static int64_t least_of(const struct node_rt *rt, const struct node_health *h)
{
    const struct site *s = rt->fleet->cfg.site;
    int64_t wanted = !s ? 0 : rt->machine ? s->min_free_disk_bytes : s->local_min_free_bytes;
    int64_t quarter = h->disk_total_bytes / 4;
    return !rt->machine && quarter < wanted ? quarter : wanted;
}

static const char *judge(struct arena *a, const struct node_rt *rt, const struct node_health *h)
{
    int64_t least = least_of(rt, h);
    if (h->disk_error && *h->disk_error)
        return arena_printf(a, "nothing can be written to %s: %s", rt->root, h->disk_error);
    if (h->disk_free_bytes >= least)
        return NULL;
    return arena_printf(a,
                        "the disk of %s is nearly full: %lld MiB of %lld MiB are free, and there "
                        "should be %lld MiB",
                        rt->root, (long long)(h->disk_free_bytes >> 20),
                        (long long)(h->disk_total_bytes >> 20), (long long)(least >> 20));
}

/* A node that stays closed keeps its first reason, because the numbers in the reason change with
 * each answer. */
static void note(struct node_rt *rt, const char *why)
{
    const char *machine = rt->machine ? rt->machine->name : NULL;
    if (!why == !rt->room.closed)
        return;
    node_set_text(&rt->room.closed, why);
    rt->room.idle_us = 0;
    if (why)
        LOG_WARN(rt->fleet->log, "node.disk_unusable", LF_STR("node", rt->name),
                 LF_STR("machine", machine), LF_STR("why", why));
    else
        LOG_INFO(rt->fleet->log, "node.disk_usable", LF_STR("node", rt->name),
                 LF_STR("machine", machine));
    fleet_pool_changed(rt->fleet, rt->pool_id);
}

/* Wakes the runs that wait for the answer; if they cannot be found, their own deadlines wake
 * them. */
static void tell(struct node_rt *rt)
{
    struct arena a;
    struct err e = {0};
    if (!rt->room.wanted)
        return;
    rt->room.wanted = false;
    arena_init(&a);
    if (fleet_wake_runs(rt->fleet, &a, rt->id, &e) < 0) {
        LOG_ERROR(rt->fleet->log, "node.waiting_runs_not_read", LF_STR("node", rt->name),
                  LF_STR("why", e.msg));
        rt->room.wanted = true;
        wake_by(rt->fleet->wakes, &woken_node, rt->id,
                wakes_mono(rt->fleet->wakes) + WRITE_AGAIN_US);
    }
    arena_free(&a);
}

void node_room_answered(struct node_rt *rt, int64_t asked_us, const struct node_health *h)
{
    struct arena a;
    rt->room.known = true;
    rt->room.asked_us = asked_us;
    arena_init(&a);
    if (h)
        note(rt, judge(&a, rt, h));
    arena_free(&a);
    tell(rt);
    wake(rt->fleet->wakes, &woken_node, rt->id);
}

void node_room_link_down(struct node_rt *rt)
{
    rt->room.known = false;
    rt->room.idle_us = 0;
}

struct failure node_room_failure(struct arena *a, const struct node_rt *rt)
{
    const struct front_words *w = words_of_node(rt);
    return (struct failure){
        .code = FAIL_NODE_DISK,
        .message = arena_strdup(a, rt->room.closed),
        .step = "check the disk",
        .remedy = front_text(
            w, a,
            rt->machine
                ? "free disk space on the machine, remount the disk if it has become read-only, or "
                  "lower machines.min_free_disk_mb; the node is then prepared again automatically"
                : "free disk space for the daemon's state directory, or lower "
                  "local.min_free_disk_mb; the node is then prepared again automatically"),
        .exit_code = -1};
}

/* Uses only an answer from after the last run: the files of ended runs are then removed, which may
 * have freed enough space. */
bool node_room_lose_idle(struct node_rt *rt, const struct node *row)
{
    struct arena a;
    if (!rt->room.closed || row->live > 0) {
        rt->room.idle_us = 0;
        return false;
    }
    if (rt->room.idle_us == 0)
        rt->room.idle_us = wakes_mono(rt->fleet->wakes);
    if (node_room_since(rt, rt->room.idle_us) != ROOM_NONE)
        return false;
    arena_init(&a);
    const struct failure f = node_room_failure(&a, rt);
    node_lose(rt, &f);
    arena_free(&a);
    return true;
}

bool node_room_before_preparing(struct node_rt *rt, const struct node *row)
{
    struct arena a;
    bool wipes = row->wish == IS_BEING_WIPED;
    if (rt->room.fake && !rt->room.closed)
        return true;
    enum room room = node_room_since(rt, rt->contact.ready_us);
    if (room == ROOM_NONE && !wipes) {
        arena_init(&a);
        const struct failure f = node_room_failure(&a, rt);
        node_lose(rt, &f);
        arena_free(&a);
    }
    return room == ROOM_LEFT || (room == ROOM_NONE && wipes);
}
