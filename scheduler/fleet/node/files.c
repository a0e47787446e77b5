/* SPDX-License-Identifier: MIT
 *
 * Lists and reads files on nodes: each call is one request over the node's link, answered once. If
 * the node does not answer in time, or the daemon stops before, the caller gets an error; the
 * record of the request stays until the link answers it.
 */
#include <stdlib.h>

#include "scheduler/fleet/node/node_priv.h"

/* The agent itself gives up after 30 s; this limit (us) is for an agent that hangs. */
#define READ_LIMIT_US 40000000

struct node_read {
    struct fleet *fleet;
    int64_t id;
    char *node;
    fleet_dir_cb on_dir;     /* exactly one of the three is set; */
    fleet_bytes_cb on_bytes; /* all are NULL once answered */
    fleet_done_cb on_done;
    void *ctx;
};

static void answer(struct node_read *k, const struct err *why, const struct node_dir_entry *list,
                   size_t n, const struct node_bytes *got)
{
    fleet_dir_cb on_dir = k->on_dir;
    fleet_bytes_cb on_bytes = k->on_bytes;
    fleet_done_cb on_done = k->on_done;
    k->on_dir = NULL;
    k->on_bytes = NULL;
    k->on_done = NULL;
    id_map_remove(&k->fleet->reads, k->id);
    wake_at(k->fleet->wakes, &woken_node_read, k->id, 0);
    if (on_dir)
        on_dir(k->ctx, why, list, n);
    else if (on_bytes)
        on_bytes(k->ctx, why, got);
    else if (on_done)
        on_done(k->ctx, why);
}

static int unavailable(const char *node, const char *why, struct err *e)
{
    return err_set(e, ERR_UNAVAILABLE, NULL,
                   "The node %s cannot be reached now: %s. Try again in a moment.", node,
                   why ? why : "its link is being opened");
}

/* Keeps errors about the file; any other error means that the node did not answer. */
static const struct err *explain(const struct node_read *k, const struct err *why, struct err *e)
{
    if (!why || why->code == ERR_FILE_NOT_FOUND || why->code == ERR_INVALID_PATH ||
        why->code == ERR_IO)
        return why;
    (void)unavailable(k->node, why->msg, e);
    return e;
}

static void read_free(struct node_read *k)
{
    free(k->node);
    free(k);
}

static void on_dir(void *ctx, const struct err *why, const struct node_dir *dir)
{
    struct node_read *k = ctx;
    struct err e;
    if (k->on_dir)
        answer(k, explain(k, why, &e), dir->list, dir->n, NULL);
    read_free(k);
}

static void on_bytes(void *ctx, const struct err *why, const struct node_bytes *got)
{
    struct node_read *k = ctx;
    struct err e;
    if (k->on_bytes)
        answer(k, explain(k, why, &e), NULL, 0, got);
    read_free(k);
}

static void on_done(void *ctx, const struct err *why)
{
    struct node_read *k = ctx;
    struct err e;
    if (k->on_done)
        answer(k, explain(k, why, &e), NULL, 0, NULL);
    read_free(k);
}

/* An unusable node that does not recover by itself has a link only while a client reads its files,
 * or users are to be removed. */
void node_rt_want_link(struct node_rt *rt)
{
    rt->noted.read_us = wakes_mono(rt->fleet->wakes);
    wake(rt->fleet->wakes, &woken_node, rt->id);
}

/* Why the node's files cannot be read soon; NULL: not known, so a retry may help. */
static const char *why_lost(const struct node_rt *rt)
{
    if (rt->machine && !rt->machine->site)
        return "its machine is not in the inventory any more";
    bool tried = rt->noted.heals || node_rt_is_read(rt);
    return rt->noted.unusable && tried && rt->contact.failures > 0 ? rt->contact.why_down : NULL;
}

static struct node_rt *find(struct fleet *fl, const struct output_dir *at, struct err *e)
{
    struct node_rt *rt = node_rt_find(fl, at->node_id);
    if (rt && node_rt_usable(rt) && !fl->reads_ended)
        return rt;
    const char *lost = rt && !fl->reads_ended ? why_lost(rt) : NULL;
    if (lost)
        err_set(e, ERR_NODE_LOST, NULL,
                "The node %s is unusable and cannot be reached: %s. Its files can be read when it "
                "answers again.",
                at->node, lost);
    else
        (void)unavailable(at->node,
                          fl->reads_ended             ? "the daemon stops"
                          : rt && !rt->noted.unusable ? rt->contact.why_down
                                                      : NULL,
                          e);
    if (rt && rt->noted.unusable && !fl->reads_ended)
        node_rt_want_link(rt);
    return NULL;
}

static struct node_read *read_new(struct node_rt *rt, void *ctx)
{
    struct fleet *fl = rt->fleet;
    struct node_read *k = xcalloc(1, sizeof *k);
    *k = (struct node_read){
        .fleet = fl, .id = ++fl->last_read, .node = xstrdup(rt->name), .ctx = ctx};
    id_map_put(&fl->reads, k->id, k);
    wake_at(fl->wakes, &woken_node_read, k->id, wakes_mono(fl->wakes) + READ_LIMIT_US);
    wake_arm(fl->wakes);
    return k;
}

/* The account whose rights are used on the node. */
static const char *account_of(const struct node_rt *rt, struct arena *a,
                              const struct output_dir *at)
{
    return at->run_dir ? node_rt_run_account(rt, a, at->run_dir) : NULL;
}

int fleet_list_dir(struct fleet *fl, const struct output_dir *at, const char *path, fleet_dir_cb cb,
                   void *ctx, struct err *e)
{
    struct node_rt *rt = find(fl, at, e);
    if (!rt)
        return -1;
    struct node_read *k = read_new(rt, ctx);
    struct arena a;
    arena_init(&a);
    k->on_dir = cb;
    node_list_dir(rt->contact.link, account_of(rt, &a, at), at->base, path, on_dir, k);
    arena_free(&a);
    return 0;
}

int fleet_read_file(struct fleet *fl, const struct output_dir *at, const char *path, int64_t offset,
                    size_t max, fleet_bytes_cb cb, void *ctx, struct err *e)
{
    struct node_rt *rt = find(fl, at, e);
    if (!rt)
        return -1;
    struct node_read *k = read_new(rt, ctx);
    struct arena a;
    arena_init(&a);
    k->on_bytes = cb;
    node_read_file(rt->contact.link,
                   &(struct request_read_file){.base = at->base,
                                               .path = path,
                                               .offset = offset,
                                               .max = max,
                                               .as = account_of(rt, &a, at)},
                   on_bytes, k);
    arena_free(&a);
    return 0;
}

int fleet_remove(struct fleet *fl, const struct output_dir *at, const char *path, fleet_done_cb cb,
                 void *ctx, struct err *e)
{
    struct node_rt *rt = find(fl, at, e);
    if (!rt)
        return -1;
    struct node_read *k = read_new(rt, ctx);
    struct arena a;
    arena_init(&a);
    k->on_done = cb;
    node_ask(rt->contact.link, REQUEST(remove_tree, .path = arena_concat(&a, at->base, "/", path)),
             on_done, k);
    arena_free(&a);
    return 0;
}

static void give_up(struct node_read *k, const char *why)
{
    struct err e;
    (void)unavailable(k->node, why, &e);
    answer(k, &e, NULL, 0, NULL);
}

void node_read_reconcile(void *ctx, int64_t id)
{
    struct fleet *fl = ctx;
    struct node_read *k = id_map_find(&fl->reads, id);
    if (k)
        give_up(k, "it does not answer");
}

void fleet_end_reads(struct fleet *fl)
{
    fl->reads_ended = true;
    while (fl->reads.n > 0)
        give_up(fl->reads.e[0].p, "the daemon stops");
}
