/* SPDX-License-Identifier: MIT
 *
 * Start and end of the fleet. The fleet owns the nodes in memory, the machines, file servers and
 * reads of samples; a start makes them from rows and wakes each node. fleet_free() is called when
 * every node was closed. All this runs on the loop's thread.
 */
#include <assert.h>
#include <stdlib.h>

#include "scheduler/fleet/mount/file_server.h"
#include "scheduler/fleet/mount/own_shares.h"
#include "scheduler/fleet/node/node_priv.h"
#include "storage/folders/files.h"

static const char *const *copy_list(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    char **copy = xcalloc(n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = xstrdup(list[i]);
    return (const char *const *)copy;
}

static void free_list(const char *const *list)
{
    for (size_t i = 0; list[i]; i++)
        free((char *)list[i]);
    free((char **)list);
}

struct fleet *fleet_create(const struct fleet_config *c)
{
    struct fleet *fl = xcalloc(1, sizeof *fl);
    fl->cfg = *c;
    fl->cfg.nodes_dir = xstrdup(c->nodes_dir);
    fl->cfg.storage_dir = xstrdup(c->storage_dir);
    fl->cfg.local_vm_sizes = copy_list(c->local_vm_sizes);
    fl->wakes = c->wakes;
    fl->st = c->storage;
    fl->log = c->log;
    fl->works = node_works;
    wakes_handle(fl->wakes, &woken_node, node_reconcile, fl);
    wakes_handle_refused(fl->wakes, &woken_node, node_refused);
    wakes_handle(fl->wakes, &woken_node_read, node_read_reconcile, fl);
    wakes_handle(fl->wakes, &woken_inventory, inventory_reconcile, fl);
    wakes_handle(fl->wakes, &woken_file_server, file_server_reconcile, fl);
    return fl;
}

bool fleet_has_local(const struct fleet *fl)
{
    return fl->cfg.local_nodes > 0;
}

const struct fleet_counts *fleet_counts(const struct fleet *fl)
{
    return &fl->counts;
}

struct files *fleet_files(const struct fleet *fl)
{
    return fl->cfg.files;
}

struct transfers *fleet_transfers(const struct fleet *fl)
{
    return fl->cfg.transfers;
}

const struct site *fleet_site(const struct fleet *fl)
{
    return fl->cfg.site;
}

void fleet_free(struct fleet *fl)
{
    assert(fl->nodes.n == 0 && fl->forgets.n == 0);
    machines_free(fl);
    id_map_free(&fl->nodes);
    loop_timer_destroy(fl->sampling);
    file_servers_free(fl);
    own_shares_free(fl);
    id_map_free(&fl->reads);
    id_map_free(&fl->forgets);
    free((char *)fl->cfg.nodes_dir);
    free((char *)fl->cfg.storage_dir);
    free_list(fl->cfg.local_vm_sizes);
    free(fl);
}

void fleet_close_links(struct fleet *fl)
{
    for (size_t i = 0; i < fl->nodes.n; i++)
        node_rt_close(fl->nodes.e[i].p);
    file_servers_stop(fl);
}

void fleet_forget_nodes(struct fleet *fl)
{
    for (size_t i = fl->nodes.n; i-- > 0;) {
        struct node_rt *rt = fl->nodes.e[i].p;
        if (rt->contact.state == CONNECTION_NONE)
            node_rt_free(rt);
    }
}

static int wake_nodes(struct fleet *fl, struct arena *a, struct err *e)
{
    int64_t *ids;
    size_t n;
    if (st_node_ids(fl->st, a, &ids, &n, e) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct node row;
        int found = st_node_by_id(fl->st, a, ids[i], &row, e);
        if (found < 0)
            return -1;
        if (found == 0)
            continue;
        node_rt_get(fl, &row);
        wake(fl->wakes, &woken_node, row.id);
    }
    return file_servers_resume(fl, a, e);
}

int fleet_start(struct fleet *fl, struct err *e)
{
    struct arena a;
    arena_init(&a);
    int rc = machines_follow(fl, fl->cfg.site, e);
    if (rc == 0)
        rc = wake_nodes(fl, &a, e);
    arena_free(&a);
    if (rc == 0) {
        own_shares_start(fl);
        node_find_orphans(fl);
    }
    return rc;
}

int64_t fleet_node_idle_since(struct fleet *fl, const struct node *row, int64_t longest_us)
{
    /* The row of a node that is not idle may not be on disk yet, so this precedes node_rt_get(). */
    if (row->idle_us == 0)
        return 0;
    struct node_rt *rt = node_rt_get(fl, row);
    if (rt->idle_row_us != row->idle_us) {
        rt->idle_row_us = row->idle_us;
        rt->idle_since_us = wakes_mono_of(fl->wakes, row->idle_us, longest_us);
    }
    return rt->idle_since_us;
}

void fleet_append_to_share(struct fleet *fl, const struct mount_volume *m, const char *path,
                           const char *text, void (*written)(void *ctx, const struct err *why),
                           void *ctx)
{
    struct arena a;
    arena_init(&a);
    const struct file_place at = {fleet_share_path(fl->cfg.storage_dir, &a, m), path};
    files_append(fl->cfg.files, &at, text, written, ctx);
    arena_free(&a);
}
