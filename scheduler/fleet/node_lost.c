/* SPDX-License-Identifier: MIT
 *
 * Nodes that are given up. Who worked there is told at once, and that cannot be taken back; so if
 * the write is (a full disk), it is written again before anybody else may use the node.
 */
#include <stdlib.h>

#include "scheduler/fleet/node_priv.h"

struct node_loss {
    struct arena a;
    struct failure why; /* in the arena */
    int unsure;         /* writes of it that are not known to be on disk, or rolled back */
};

void node_loss_free(struct node_rt *rt)
{
    if (rt->loss)
        arena_free(&rt->loss->a);
    free(rt->loss);
    rt->loss = NULL;
}

static struct node_loss *loss_new(const struct failure *why)
{
    struct node_loss *l = xcalloc(1, sizeof *l);
    arena_init(&l->a);
    l->why = (struct failure){.code = why->code,
                              .message = arena_strdup(&l->a, why->message),
                              .step = arena_strdup(&l->a, why->step),
                              .command = arena_strdup(&l->a, why->command),
                              .stderr_tail = arena_strdup(&l->a, why->stderr_tail),
                              .remedy = arena_strdup(&l->a, why->remedy),
                              .exit_code = why->exit_code,
                              .signal = why->signal};
    return l;
}

static void effect_written(void *ctx, int64_t id, const struct err *why)
{
    struct node_rt *rt = node_rt_find(ctx, id);
    if (!rt || !rt->loss || rt->loss->unsure == 0)
        return; /* of a node that is gone */
    rt->loss->unsure--;
    if (!why && rt->loss->unsure == 0)
        node_loss_free(rt);
}

static void write_loss(struct node_rt *rt)
{
    if (!node_fail(rt, &rt->loss->why))
        return;
    rt->loss->unsure++;
    wake_when_durable(rt->fleet->wakes, effect_written, rt->fleet, rt->id);
}

void node_lose(struct node_rt *rt, const struct failure *why)
{
    struct node_loss *l = loss_new(why);
    l->unsure = rt->loss ? rt->loss->unsure : 0;
    node_loss_free(rt);
    rt->loss = l;
    write_loss(rt);
}

bool node_lose_again(struct node_rt *rt)
{
    if (!rt->loss || rt->loss->unsure > 0)
        return false;
    write_loss(rt);
    return true;
}

int fleet_write_loss(struct fleet *fl, int64_t node_id, struct err *e)
{
    struct node_rt *rt = node_rt_find(fl, node_id);
    if (!rt || !rt->loss || rt->loss->unsure > 0)
        return 0;
    struct arena a;
    arena_init(&a);
    int rc = node_write_failure(rt, &a, &rt->loss->why, e);
    arena_free(&a);
    return rc;
}

/* The link first: closing it answers what the tenant has asked for. The others are asked again over
 * the next one. */
void node_give_up(struct node_tenant *t, const struct failure *why)
{
    struct node_rt *rt = t->node;
    node_rt_close(rt);
    node_detach(t);
    t->events->gone(t);
    node_lose(rt, why);
}
