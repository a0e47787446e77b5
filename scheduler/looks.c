/* SPDX-License-Identifier: MIT
 *
 * Looking at files of nodes: each look is one request over the node's link, answered once. One that
 * the node does not answer in time, or that is still waited for when the daemon stops, is answered
 * with an error; its record stays until the link gives it up.
 */
#include <stdlib.h>

#include "scheduler/outputs.h"

/* The agent gives up after 30 s by itself; this is for one that does not even do that. */
#define LOOK_LIMIT_US 40000000

struct look {
    struct sched *s;
    int64_t id;
    char *node;
    sched_dir_cb on_dir;     /* one of the two, */
    sched_bytes_cb on_bytes; /* NULL both once answered */
    void *ctx;
};

static void answer(struct look *k, const struct err *why, const struct node_dir_entry *list,
                   size_t n, const struct node_bytes *got)
{
    sched_dir_cb on_dir = k->on_dir;
    sched_bytes_cb on_bytes = k->on_bytes;
    k->on_dir = NULL;
    k->on_bytes = NULL;
    id_map_remove(&k->s->looks, k->id);
    wake_at(k->s, WAKE_LOOK, k->id, 0);
    if (on_dir)
        on_dir(k->ctx, why, list, n);
    else if (on_bytes)
        on_bytes(k->ctx, why, got);
}

static int unavailable(const char *node, const char *why, struct err *e)
{
    return err_set(e, ERR_UNAVAILABLE, NULL,
                   "The node %s cannot be reached now: %s. Try again in a moment.", node,
                   why ? why : "its link is being opened");
}

/* What it says of the file stays; everything else means that the node did not answer. */
static const struct err *explain(const struct look *k, const struct err *why, struct err *e)
{
    if (!why || why->code == ERR_FILE_NOT_FOUND || why->code == ERR_INVALID_PATH ||
        why->code == ERR_IO)
        return why;
    (void)unavailable(k->node, why->msg, e);
    return e;
}

static void look_free(struct look *k)
{
    free(k->node);
    free(k);
}

static void on_dir(void *ctx, const struct err *why, const struct node_dir_entry *list, size_t n)
{
    struct look *k = ctx;
    struct err e;
    if (k->on_dir)
        answer(k, explain(k, why, &e), list, n, NULL);
    look_free(k);
}

static void on_bytes(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct look *k = ctx;
    struct err e;
    if (k->on_bytes)
        answer(k, explain(k, why, &e), NULL, 0, got);
    look_free(k);
}

static struct node_rt *find(struct sched *s, const struct output_place *at, struct err *e)
{
    struct node_rt *rt = node_rt_find(s, at->node_id);
    if (rt && node_rt_usable(rt) && !s->looks_ended)
        return rt;
    const char *why = s->looks_ended ? "the daemon stops" : rt ? rt->why_down : NULL;
    (void)unavailable(at->node, why, e);
    return NULL;
}

static struct look *look_new(struct node_rt *rt, void *ctx)
{
    struct sched *s = rt->s;
    struct look *k = xcalloc(1, sizeof *k);
    *k = (struct look){.s = s, .id = ++s->last_look, .node = xstrdup(rt->name), .ctx = ctx};
    id_map_put(&s->looks, k->id, k);
    wake_at(s, WAKE_LOOK, k->id, sched_now(s) + LOOK_LIMIT_US);
    wake_arm(s);
    return k;
}

int sched_list_output(struct sched *s, const struct output_place *at, const char *path,
                      sched_dir_cb cb, void *ctx, struct err *e)
{
    struct node_rt *rt = find(s, at, e);
    if (!rt)
        return -1;
    struct look *k = look_new(rt, ctx);
    k->on_dir = cb;
    node_list_dir(rt->link, node_rt_job_user(rt), at->base, path, on_dir, k);
    return 0;
}

int sched_read_output(struct sched *s, const struct output_place *at, const char *path,
                      int64_t offset, size_t max, sched_bytes_cb cb, void *ctx, struct err *e)
{
    struct node_rt *rt = find(s, at, e);
    if (!rt)
        return -1;
    struct look *k = look_new(rt, ctx);
    k->on_bytes = cb;
    node_read_file(rt->link, node_rt_job_user(rt), at->base, path, offset, max, on_bytes, k);
    return 0;
}

static void give_up(struct look *k, const char *why)
{
    struct err e;
    (void)unavailable(k->node, why, &e);
    answer(k, &e, NULL, 0, NULL);
}

void looks_reconcile(struct sched *s, int64_t id)
{
    struct look *k = id_map_find(&s->looks, id);
    if (k)
        give_up(k, "it does not answer");
}

void sched_end_looks(struct sched *s)
{
    s->looks_ended = true;
    while (s->looks.n > 0)
        give_up(s->looks.e[0].p, "the daemon stops");
}
