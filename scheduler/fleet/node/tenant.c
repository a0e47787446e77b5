/* SPDX-License-Identifier: MIT
 *
 * The tenants of a node, and the calls of their callbacks.
 */
#include <assert.h>
#include <string.h>

#include "scheduler/fleet/node/node_priv.h"

void node_attach(struct node_rt *rt, struct node_tenant *t)
{
    assert(!t->node && t->events);
    t->node = rt;
    t->next = rt->tenants;
    rt->tenants = t;
    if (rt->seen.has.gpus > 0)
        node_shown_changed(rt);
    /* The node opens its link for the tenant, unless the node was given up before. */
    wake(rt->fleet->wakes, &woken_node, rt->id);
}

void node_detach(struct node_tenant *t)
{
    struct node_rt *rt = t->node;
    if (!rt)
        return;
    struct node_tenant **at = &rt->tenants;
    while (*at != t) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = t->next;
    t->next = NULL;
    t->node = NULL;
    node_gpu_runs_changed(rt);
    if (rt->seen.has.gpus > 0)
        node_shown_changed(rt);
}

void node_tell_ready(struct node_rt *rt)
{
    for (struct node_tenant *t = rt->tenants; t; t = t->next)
        t->events->ready(t);
}

void node_tell_down(struct node_rt *rt)
{
    for (struct node_tenant *t = rt->tenants; t; t = t->next)
        t->events->down(t);
}

void node_tell_gone(struct node_rt *rt)
{
    while (rt->tenants) {
        struct node_tenant *t = rt->tenants;
        node_detach(t);
        t->events->gone(t);
    }
}

void node_tell_remote(struct node_rt *rt, const struct remote_msg *m)
{
    for (struct node_tenant *t = rt->tenants; t; t = t->next)
        if (t->dir && strcmp(t->dir, m->run) == 0) {
            if (t->events->remote)
                t->events->remote(t, m);
            return;
        }
}

void node_tell_task_ended(struct node_rt *rt, const struct task_status *st)
{
    for (struct node_tenant *t = rt->tenants; t; t = t->next)
        if (t->events->task_ended(t, st))
            return;
}
