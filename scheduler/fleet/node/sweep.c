/* SPDX-License-Identifier: MIT
 *
 * Compares the directories of runs that a node should keep (rows) with those that it has (a list),
 * and removes the rest. So no directory stays after a crash, or on a node that was away when its
 * runs were deleted. If a kept directory does not exist any more, its row is updated. Archives that
 * tasks have used are removed after some idle time.
 */
#include <string.h>

#include "scheduler/fleet/node/node_priv.h"

/* us; within this time, later tasks reuse an archive. */
#define ARCHIVES_US (INT64_C(10) * 60 * 1000000)

/* The most directories that one sweep removes, because runs may be able to make any number of
 * them. */
#define REMOVED_MAX 200

struct kept_dirs {
    struct kept_dir *dirs;
    size_t n;
    const struct node_tenant *tenants;
};

static bool is_kept(const struct kept_dirs *k, const char *name)
{
    for (const struct node_tenant *t = k->tenants; t; t = t->next)
        if (strcmp(t->dir, name) == 0)
            return true;
    for (size_t i = 0; i < k->n; i++)
        if (strcmp(k->dirs[i].name, name) == 0)
            return true;
    return false;
}

static int count_tenants(const struct node_rt *rt)
{
    int n = 0;
    for (const struct node_tenant *t = rt->tenants; t; t = t->next)
        n++;
    return n;
}

/* Finds the directories to keep. False: they are unknown now, because a live allocation's run is
 * not in memory yet. The run may have to be cleaned, or its release may have been rolled back. */
static bool find_kept(struct node_rt *rt, struct arena *a, struct kept_dirs *k)
{
    struct node row;
    struct err e;
    if (st_node_by_id(rt->fleet->st, a, rt->id, &row, &e) <= 0 || row.live > count_tenants(rt) ||
        st_allocation_kept_dirs(rt->fleet->st, a, rt->id, &k->dirs, &k->n, &e) != 0)
        return false;
    k->tenants = rt->tenants;
    return true;
}

static void on_removed(void *ctx, const struct err *why)
{
    const struct node_rt *rt = ctx;
    if (why)
        LOG_WARN(rt->fleet->log, "node.run_directory_not_removed", LF_STR("node", rt->name),
                 LF_STR("why", why->msg));
}

/* Sweeps again, because there may be more directories than one sweep removes. */
static void on_last_removed(void *ctx, const struct err *why)
{
    struct node_rt *rt = ctx;
    on_removed(rt, why);
    if (why)
        return; /* the next sweep follows a change of rows, or the next link */
    rt->swept = false;
    wake(rt->fleet->wakes, &woken_node, rt->id);
}

static void remove_rest(struct node_rt *rt, struct arena *a, const struct kept_dirs *k,
                        const struct node_dir *runs)
{
    const struct node_dir_entry *list = runs->list;
    int left = REMOVED_MAX;
    for (size_t i = 0; i < runs->n && left > 0; i++) {
        if (!list[i].is_dir || is_kept(k, list[i].name))
            continue;
        left--;
        LOG_DEBUG(rt->fleet->log, "node.run_directory_removed", LF_STR("node", rt->name),
                  LF_STR("directory", list[i].name));
        node_ask(rt->contact.link,
                 REQUEST(remove_tree,
                         .path = arena_printf(a, "%s/" RUNS_DIR "/%s", rt->root, list[i].name)),
                 left > 0 ? on_removed : on_last_removed, rt);
    }
}

static void note_lost(const struct node_rt *rt, const struct kept_dirs *k,
                      const struct node_dir *runs)
{
    for (size_t i = 0; i < k->n; i++) {
        const struct kept_dir *dir = &k->dirs[i];
        const struct allocation al = {
            .run_id = dir->run_id, .attempt = dir->attempt, .rank = dir->rank, .node_id = rt->id};
        bool there = false;
        struct err e;
        for (size_t j = 0; j < runs->n && !there; j++)
            there = strcmp(runs->list[j].name, dir->name) == 0;
        if (!there && st_allocation_keep(rt->fleet->st, &al, false, 0, &e) != 0)
            LOG_WARN(rt->fleet->log, "node.lost_output_not_written", LF_STR("node", rt->name),
                     LF_STR("why", e.msg));
    }
}

static void on_listed(void *ctx, const struct err *why, const struct node_dir *runs)
{
    struct node_rt *rt = ctx;
    struct kept_dirs k = {0};
    struct arena a;
    if ((why && why->code != ERR_FILE_NOT_FOUND) || !node_rt_usable(rt))
        return;
    arena_init(&a);
    rt->swept = find_kept(rt, &a, &k);
    if (rt->swept) {
        remove_rest(rt, &a, &k, runs);
        if (!runs->cut) /* a list that is cut does not tell which directories are missing */
            note_lost(rt, &k, runs);
    }
    arena_free(&a);
}

void node_sweep(struct node_rt *rt)
{
    if (rt->swept)
        return;
    rt->swept = true; /* no sweep is needed until the rows change */
    node_list_dir(rt->contact.link, NULL, rt->root, RUNS_DIR, on_listed, rt);
}

/* --- archives --------------------------------------------------------------------------------- */

static void on_dropped(void *ctx, const struct err *why)
{
    const struct node_rt *rt = ctx;
    if (why)
        LOG_WARN(rt->fleet->log, "node.archives_not_removed", LF_STR("node", rt->name),
                 LF_STR("why", why->msg));
}

static void drop_archives(struct node_rt *rt, const struct front_words *w)
{
    struct arena a;
    arena_init(&a);
    const struct request_drop_unlinked what = {
        .dir = arena_concat(&a, rt->root, "/", w->archives),
        .used = arena_concat(&a, rt->root, "/", w->pool_archive_links),
        .links = arena_concat(&a, rt->root, "/", w->archive_links)};
    node_ask(rt->contact.link, REQUEST_OF(drop_unlinked, what), on_dropped, rt);
    arena_free(&a);
}

/* Needs no lock against runs: a run that begins later sends its requests over the same link, after
 * this request. */
void node_sweep_archives(struct node_rt *rt, const struct node *row)
{
    const struct front_words *w = words_of_node(rt);
    struct wakes *wakes = rt->fleet->wakes;
    bool idle = row->state == NODE_IDLE && row->idle_us != 0 && row->live == 0 && !rt->tenants;
    if (!w->archives || !idle)
        return;
    if (rt->archives_idle_us != row->idle_us) {
        rt->archives_idle_us = row->idle_us;
        rt->archives_due_us = wakes_mono_of(wakes, row->idle_us, ARCHIVES_US) + ARCHIVES_US;
    }
    if (rt->archives_due_us > wakes_mono(wakes)) {
        wake_by(wakes, &woken_node, rt->id, rt->archives_due_us);
    } else if (rt->archives_due_us != 0) {
        rt->archives_due_us = 0;
        drop_archives(rt, w);
    }
}

/* --- when rows change ---------------------------------------------------------------------------
 */

static void effect_sweep(void *ctx, int64_t id, const struct err *why)
{
    struct fleet *fl = ctx;
    struct node_rt *rt = node_rt_find(fl, id);
    if (rt && !why)
        rt->swept = false;
    wake_after(fl->wakes, &woken_node, id, why);
}

void fleet_sweep_when_durable(struct fleet *fl, int64_t node_id)
{
    wake_when_durable(fl->wakes, effect_sweep, fl, node_id);
}
