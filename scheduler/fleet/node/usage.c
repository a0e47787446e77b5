/* SPDX-License-Identifier: MIT
 *
 * The load of the nodes' machines, from counters of their agents: asked for only while a client
 * needs it. The last two answers are kept; their difference is the load.
 */
#include <stdlib.h>

#include "scheduler/fleet/node/node_priv.h"

#define SECOND_US INT64_C(1000000)
/* us; if the last answer is older than this, the node does not answer any more. */
#define STALE_US (60 * SECOND_US)

struct node_answers {
    bool asked;
    int n;
    struct {
        int64_t at_us; /* monotonic */
        struct node_usage u;
    } before, last;
};

void node_usage_free(struct node_rt *rt)
{
    free(rt->answers);
    rt->answers = NULL;
}

/* Handles the answer; also called, with `why`, when the link breaks. */
static void on_usage(void *ctx, const struct err *why, const struct node_usage *u)
{
    struct node_rt *rt = ctx;
    struct node_answers *a = rt->answers;
    a->asked = false;
    if (why) {
        LOG_DEBUG(rt->fleet->log, "node.usage_unknown", LF_STR("node", rt->name),
                  LF_STR("why", why->msg));
        return;
    }
    a->before = a->last;
    a->last.at_us = wakes_mono(rt->fleet->wakes);
    a->last.u = *u;
    a->n++;
}

void fleet_ask_usage(struct fleet *fl, int64_t node_id)
{
    struct node_rt *rt = node_rt_find(fl, node_id);
    if (!rt || !node_rt_usable(rt))
        return;
    if (!rt->answers)
        rt->answers = xcalloc(1, sizeof *rt->answers);
    if (rt->answers->asked)
        return;
    rt->answers->asked = true;
    node_usage(rt->contact.link, on_usage, rt);
}

/* A rebooted machine begins its counters at 0. */
static bool has_grown(const struct node_usage *from, const struct node_usage *to)
{
#define HAS_GROWN(name) &&to->name >= from->name
    return true NODE_USAGE_COUNTERS(HAS_GROWN);
#undef HAS_GROWN
}

bool fleet_node_used(const struct fleet *fl, int64_t node_id, struct node_used *out)
{
    const struct node_rt *rt = node_rt_find(fl, node_id);
    const struct node_answers *a = rt ? rt->answers : NULL;
    if (!a || a->n < 2 || wakes_mono(fl->wakes) - a->last.at_us > STALE_US ||
        a->last.at_us <= a->before.at_us || !has_grown(&a->before.u, &a->last.u))
        return false;
    *out = (struct node_used){.seconds =
                                  (double)(a->last.at_us - a->before.at_us) / (double)SECOND_US};
#define GROWTH(name) out->in_between.name = a->last.u.name - a->before.u.name;
#define LEVEL(name)  out->in_between.name = a->last.u.name;
    NODE_USAGE_COUNTERS(GROWTH)
    NODE_USAGE_LEVELS(LEVEL)
#undef GROWTH
#undef LEVEL
    return true;
}
