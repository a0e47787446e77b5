/* SPDX-License-Identifier: MIT
 *
 * Chooses the type of mount for a volume: the site's first rule that fits, the shares that the
 * daemon serves, a file server, or the run's command. Pure: everything is in the caller's arena.
 */
#include <string.h>

#include "lib/shell.h"
#include "scheduler/fleet/fleet_priv.h"
#include "scheduler/fleet/mount/plan_priv.h"

/* --- shares and containers -------------------------------------------------------------------- */

static const struct site_mount_rule *find_rule(const struct site *site,
                                               const struct mount_volume *m)
{
    for (size_t i = 0; site && i < site->n_mounts; i++) {
        const struct site_mount_rule *r = &site->mounts[i];
        bool kind = m->kind == MOUNT_BLOBS ? r->blobs : r->files;
        if (kind && plan_matches(r->account, m->account) && plan_matches(r->share, m->share))
            return r;
    }
    return NULL;
}

bool fleet_has_mount_rule(const struct fleet *fl, const struct mount_volume *m)
{
    return find_rule(fl->cfg.site, m) != NULL;
}

static bool plan_by_rule(struct planning *p)
{
    p->rule = find_rule(p->node->site, p->m);
    if (!p->rule)
        return plan_own(p);
    if (p->rule->unmount && *p->rule->unmount)
        p->out->unmount = unmount_script(p->a, p->node->root, p->out->target,
                                         mount_fill(p->a, p->rule->unmount, &p->words, true));
    return plan_by_type(p);
}

static bool plan_share(struct planning *p)
{
    struct arena *a = p->a;
    const struct mount_volume *m = p->m;
    bool blob = m->kind == MOUNT_BLOBS;
    p->out->code = blob ? FAIL_BFS_MOUNT_ERROR : FAIL_AZF_MOUNT_ERROR;
    p->out->what = arena_printf(a, "mount of %s %s/%s at %s", blob ? "container" : "share",
                                m->account, m->share, m->relative_path);
    p->words.account = arena_lower(a, m->account);
    p->words.share = arena_lower(a, m->share);
    p->words.url =
        m->host ? m->host : arena_printf(a, "%s.blob.core.windows.net", p->words.account);
    if (!p->node->is_local) {
        p->out->remedy = "check its rule under `mounts` in batchaid's configuration, and try its "
                         "command on the machine";
        return plan_by_rule(p);
    }
    p->out->folder = fleet_share_path(p->node->storage_dir, a, m);
    p->out->shared = true;
    return true;
}

/* --- unmanaged -------------------------------------------------------------------------------- */

/* As in the real service, the mount's path is appended to the user's command. */
static bool plan_unmanaged(struct planning *p)
{
    p->out->code = FAIL_UNMANAGED_MOUNT_ERROR;
    p->out->what = arena_printf(p->a, "mount of unmanaged file system at %s", p->m->relative_path);
    p->out->remedy = front_text(p->node->words, p->a,
                                "check that {mount_command}, followed by the path of the mount, "
                                "works on the node, and ends when it has mounted");
    if (p->m->key) { /* mount.cifs reads these variables */
        p->out->env[p->out->n_env++] =
            (struct kv){.name = "PASSWD", .value = p->m->key, .is_secret = true};
        p->out->env[p->out->n_env++] = (struct kv){.name = "USER", .value = p->m->account};
    }
    plan_set_command(p,
                     arena_printf(p->a, "%s %s", p->m->source, shell_quoted(p->a, p->out->target)));
    return true;
}

bool mount_plan(struct arena *a, const struct mount_node *node, const struct mount_wish *wish,
                struct mount_plan *out, struct failure *why)
{
    const struct mount_volume *m = wish->volume;
    struct planning p = {.a = a, .node = node, .m = m, .i = wish->i, .out = out, .why = why};
    *out =
        (struct mount_plan){.target = arena_printf(a, "%s/%s", node->mount_root, m->relative_path)};
    p.words.target = out->target;
    switch (m->kind) {
    case MOUNT_FILE_SHARE:
    case MOUNT_BLOBS:
        return plan_share(&p);
    case MOUNT_FILE_SERVER:
        return plan_file_server(&p, wish->server);
    case MOUNT_UNMANAGED:
        return plan_unmanaged(&p);
    }
    return false;
}
