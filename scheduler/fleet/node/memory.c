/* SPDX-License-Identifier: MIT
 *
 * Nodes in memory: made when a row, or a root without a row, is first used; found by the ids of
 * rows; freed when the row is removed and the link closed. The fleet owns them.
 */
#include <assert.h>
#include <stdlib.h>

#include "lib/strbuf.h"
#include "scheduler/fleet/node/node_priv.h"

/* One node at a time uses a machine's node root, so its path does not contain the node's name. */
static char *root_of(const struct fleet *fl, const struct machine *m, const char *name)
{
    struct arena a;
    arena_init(&a);
    char *root;
    if (m)
        root = xstrdup(m->site ? m->site->group->node_root : "");
    else
        root = xstrdup(arena_printf(&a, "%s/%s", fl->cfg.nodes_dir, name));
    arena_free(&a);
    return root;
}

/* All addresses of 127.0.0.0/8 are this machine. Each node has a different address, so that
 * programs that start one process or one server per host treat the nodes as different hosts.
 * Addresses below 127.64.0.0 may be taken: localhost, resolvers, Debian's 127.0.1.1. */
static char *local_address(int64_t id)
{
    struct strbuf b = STRBUF_INIT;
    unsigned n = (unsigned)id;
    strbuf_printf(&b, "127.%u.%u.%u", 64 + (n >> 16) % 64, (n >> 8) % 256, n % 256);
    return strbuf_take(&b);
}

static struct node_rt *rt_new(struct fleet *fl, int64_t id, const char *name, struct machine *m)
{
    struct node_rt *rt = xcalloc(1, sizeof *rt);
    rt->fleet = fl;
    rt->id = id;
    rt->front = fl->cfg.fronts->all[0];
    rt->machine = m;
    rt->name = xstrdup(name);
    rt->root = root_of(fl, m, name);
    rt->address = m ? NULL : local_address(id);
    id_map_put(&fl->nodes, id, rt);
    return rt;
}

struct node_rt *node_rt_get(struct fleet *fl, const struct node *row)
{
    struct node_rt *rt = node_rt_find(fl, row->id);
    if (!rt) {
        rt = rt_new(fl, row->id, row->name,
                    row->machine_id ? machine_find(fl, row->machine_id) : NULL);
        node_reboot_resume(rt, row);
    }
    rt->pool_id = row->pool_id;
    rt->front = front_of(fl->cfg.fronts, row->pool_kind);
    return rt;
}

void node_rt_reachable(struct fleet *fl, const struct machine *m)
{
    struct node_rt *rt = node_rt_find(fl, m->node_id);
    if (!rt)
        return;
    assert(rt->contact.state == CONNECTION_NONE); /* nobody knew how to reach the machine */
    free(rt->root);
    rt->root = root_of(fl, m, rt->name);
    wake(fl->wakes, &woken_node, rt->id);
}

struct node_rt *node_rt_new_orphan(struct fleet *fl, const char *name)
{
    return rt_new(fl, --fl->last_orphan, name, NULL);
}

void node_rt_free(struct node_rt *rt)
{
    assert(rt->contact.state == CONNECTION_NONE && !rt->tenants);
    node_rt_close(rt); /* it may be waiting for its turn to connect */
    wake_at(rt->fleet->wakes, &woken_node, rt->id, 0);
    id_map_remove(&rt->fleet->nodes, rt->id);
    for (const struct node_work *const *w = rt->fleet->works; *w; w++)
        if ((*w)->free)
            (*w)->free(rt);
    node_login_close(rt);
    node_forgets_free(rt);
    node_usage_free(rt);
    node_samples_free(rt);
    node_loss_free(rt);
    node_forget_gpu_runs(rt);
    free(rt->seen.facts);
    free(rt->name);
    free(rt->root);
    free(rt->contact.why_down);
    free(rt->contact.why_told);
    free(rt->setup.id);
    free(rt->room.closed);
    free(rt->account);
    free(rt->seen.incarnation);
    free(rt->seen.runtimes);
    free(rt->seen.devices);
    free(rt->seen.hostname);
    free(rt->address);
    free(rt);
}
