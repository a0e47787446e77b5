/* SPDX-License-Identifier: MIT
 *
 * The directory that is hidden from users' commands on local nodes. If the daemon is root, runs
 * have separate accounts, and file modes protect the daemon. Otherwise they run as the user of the
 * daemon, and its state directory is hidden from them as soon as another person may log in.
 */
#include <string.h>

#include "scheduler/fleet/mount/mounts.h"
#include "scheduler/fleet/node/node_priv.h"

static bool is_hidden(const struct node_rt *rt)
{
    const struct fleet *fl = rt->fleet;
    struct err e;
    /* If the credentials cannot be read, hiding is the safe choice. */
    return !rt->machine && fl->cfg.site && fl->cfg.site->hidden &&
           st_credential_any(fl->st, &e) != 0;
}

struct task_confine node_rt_confine(const struct node_rt *rt, struct arena *a,
                                    const struct mount_list *own)
{
    const struct front *f = rt->front;
    const struct mount_list none = {.n = 0};
    const struct front_read how = {.st = rt->fleet->st, .a = a};
    struct node_setup_spec pool = {.mounts = none};
    struct err e;
    if (!is_hidden(rt))
        return (struct task_confine){.hide = NULL};
    if (f->ops->load_pool(f, &how, rt->pool_id, &pool, &e) <= 0)
        pool.mounts = none;
    own = own ? own : &none;
    const char **reach = arena_alloc(a, (1 + pool.mounts.n + own->n) * sizeof *reach);
    size_t n = 0;
    reach[n++] = rt->root;
    n += mounts_folders(rt, a, &pool.mounts, &reach[n]);
    n += mounts_folders(rt, a, own, &reach[n]);
    return (struct task_confine){.hide = rt->fleet->cfg.site->hidden, .reach = reach, .n_reach = n};
}
