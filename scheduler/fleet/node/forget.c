/* SPDX-License-Identifier: MIT
 *
 * Makes nodes forget ended tasks whose ends are in rows that are not on disk yet. Such a task is
 * noted in memory until its node has answered, over this link or a later one. A restarted daemon
 * finds the task by unknown_tasks.c.
 */
#include <stdlib.h>

#include "scheduler/fleet/node/node_priv.h"

struct task_forget {
    struct fleet *fleet;
    int64_t number, node_id;
    bool durable; /* the rows are on disk */
    bool asked;   /* the node was asked, and has not answered */
    char *task_id;
};

static void drop(struct task_forget *f)
{
    id_map_remove(&f->fleet->forgets, f->number);
    free(f->task_id);
    free(f);
}

static void on_forgotten(void *ctx, const struct err *why)
{
    struct task_forget *f = ctx;
    f->asked = false;
    if (!why)
        drop(f);
}

static void ask(const struct node_rt *rt, struct task_forget *f)
{
    f->asked = true;
    node_ask(rt->contact.link, REQUEST(forget, .task = f->task_id), on_forgotten, f);
}

static void effect_durable(void *ctx, int64_t number, const struct err *why)
{
    struct fleet *fl = ctx;
    struct task_forget *f = id_map_find(&fl->forgets, number);
    if (!f)
        return; /* the node is gone */
    const struct node_rt *rt = node_rt_find(fl, f->node_id);
    f->durable = !why;
    if (why) /* the run's rows are unchanged, so its nodes are cleaned again */
        drop(f);
    else if (rt->contact.greeted)
        ask(rt, f);
}

void fleet_forget_when_durable(struct fleet *fl, int64_t node_id, const char *task_id)
{
    if (!node_rt_find(fl, node_id))
        return;
    struct task_forget *f = xcalloc(1, sizeof *f);
    *f = (struct task_forget){
        .fleet = fl, .number = ++fl->last_forget, .node_id = node_id, .task_id = xstrdup(task_id)};
    id_map_put(&fl->forgets, f->number, f);
    wake_when_durable(fl->wakes, effect_durable, fl, f->number);
}

void node_forget_again(const struct node_rt *rt)
{
    const struct id_map *all = &rt->fleet->forgets;
    for (size_t i = 0; i < all->n; i++) {
        struct task_forget *f = all->e[i].p;
        if (f->node_id == rt->id && f->durable && !f->asked)
            ask(rt, f);
    }
}

void node_forgets_free(const struct node_rt *rt)
{
    const struct id_map *all = &rt->fleet->forgets;
    for (size_t i = all->n; i-- > 0;) {
        struct task_forget *f = all->e[i].p;
        if (f->node_id == rt->id)
            drop(f);
    }
}
