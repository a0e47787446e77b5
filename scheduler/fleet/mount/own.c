/* SPDX-License-Identifier: MIT
 *
 * A share or container that a machine mounts from the daemon, because no rule matches.
 */
#include <string.h>

#include "lib/shell.h"
#include "scheduler/fleet/mount/plan_priv.h"

/* Docker, whose daemon runs as root, must also have access to an account's mounts. An account may
 * use the option allow_other for this only if /etc/fuse.conf has the line user_allow_other. */
#define ALLOW_IF_ALLOWED                                                                           \
    "$(grep -qs '^[[:space:]]*user_allow_other' /etc/fuse.conf && echo -o allow_other)"

static const char *rule_text(const struct planning *p)
{
    return arena_printf(p->a,
                        "mounts:\n  - match: %s/%s\n    kind: %s\n    type: nfs\n"
                        "    source: HOST:/export/{account}/{share}",
                        p->words.account, p->words.share,
                        p->m->kind == MOUNT_BLOBS ? "blobs" : "files");
}

static bool refuse(struct planning *p, const char *why)
{
    struct arena *a = p->a;
    const char *both =
        why ? arena_printf(a,
                           "the daemon cannot serve %s/%s to machines (%s), and no rule in the "
                           "configuration mounts it there",
                           p->words.account, p->words.share, why)
            : arena_printf(a, "no rule in the configuration mounts %s/%s on machines",
                           p->words.account, p->words.share);
    return plan_refuse(
        p, FAIL_MOUNT_NOT_CONFIGURED, arena_printf(a, "%s: %s", p->out->what, both),
        arena_printf(a, "%s, or %s:\n%s",
                     why ? "let the daemon serve it (settings `shares`; `batchaid nodes check` "
                           "says what is missing)"
                         : "set shares.port and restart the daemon",
                     PLAN_ADD_RULE, rule_text(p)));
}

static const char *relative_folder(struct planning *p)
{
    const char *folder = fleet_share_path(p->node->storage_dir, p->a, p->m);
    return folder + strlen(p->node->storage_dir) + 1;
}

bool plan_own(struct planning *p)
{
    struct arena *a = p->a;
    const struct mount_own *own = p->node->own;
    if (!own || own->why_not)
        return refuse(p, own ? own->why_not : NULL);
    p->out->own_folder = relative_folder(p);
    p->out->remedy =
        "see that the machine has sshfs and /dev/fuse and reaches the daemon's address and port "
        "(settings `shares`): batchaid nodes check tries it; or add a rule under `mounts`";
    const char *parts[] = {
        "BatchMode=yes,reconnect,ServerAliveInterval=15,ServerAliveCountMax=3,ConnectTimeout=15",
        "StrictHostKeyChecking=yes,GlobalKnownHostsFile=/dev/null",
        arena_concat(a, "HostKeyAlias=", OWN_HOST_ALIAS),
        "IdentitiesOnly=yes,dcache_timeout=1",
        arena_printf(a, "Port=%d", own->port),
        arena_printf(a, "UserKnownHostsFile=%s", own->hosts_file),
        arena_printf(a, "IdentityFile=%s", own->key_file),
        p->node->is_root ? "allow_other" : NULL,
        plan_own_options(p)};
    const char *options = plan_options(p, parts, sizeof parts / sizeof parts[0]);
    const char *host = strchr(own->address, ':') && *own->address != '['
                           ? arena_printf(a, "[%s]", own->address)
                           : own->address;
    const char *source = arena_printf(a, "%s@%s:%s", own->user, host, p->out->own_folder);
    plan_set_command(p, arena_printf(a, "sshfs -F /dev/null %s%s%s %s", options,
                                     p->node->is_root ? "" : ALLOW_IF_ALLOWED " ",
                                     shell_quoted(a, source), shell_quoted(a, p->out->target)));
    return true;
}
