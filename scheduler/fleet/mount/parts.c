/* SPDX-License-Identifier: MIT
 *
 * Helpers shared by all types of mounts.
 */
#include <fnmatch.h>

#include "lib/shell.h"
#include "lib/strbuf.h"
#include "scheduler/fleet/mount/plan_priv.h"

bool plan_refuse(struct planning *p, enum failure_code code, const char *message,
                 const char *remedy)
{
    *p->why = (struct failure){
        .code = code, .message = message, .step = p->out->what, .remedy = remedy, .exit_code = -1};
    return false;
}

bool plan_refuse_without_root(struct planning *p, const char *way)
{
    return plan_refuse(
        p, FAIL_NODE_HAS_NO_ROOT,
        arena_printf(p->a, "%s: %s needs root, and there is none on this machine", p->out->what,
                     way),
        "give the machines `become: sudo` in the inventory (and the login the right to "
        "sudo without a password), or mount by sshfs, blobfuse2 or local");
}

const char *plan_joined(struct arena *a, const char *const *parts, size_t n)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < n; i++)
        if (parts[i] && *parts[i])
            strbuf_printf(&b, "%s%s", b.len ? "," : "", parts[i]);
    const char *text = arena_strdup(a, b.s ? b.s : "");
    strbuf_free(&b);
    return text;
}

const char *plan_options(struct planning *p, const char *const *parts, size_t n)
{
    const char *options = plan_joined(p->a, parts, n);
    return *options ? arena_printf(p->a, "-o %s ", shell_quoted(p->a, options)) : "";
}

/* The volume's own options for a mount command, or NULL. Options that begin with '-' are left out:
 * they are arguments of blobfuse, usual for containers, which other programs do not understand. */
const char *plan_own_options(const struct planning *p)
{
    return p->m->options && p->m->options[0] != '-' ? p->m->options : NULL;
}

void plan_set_command(struct planning *p, const char *command)
{
    p->out->shown = command;
    p->out->command =
        mount_script(p->a, p->node->root, p->out->target, command, p->out->file, NULL);
}

bool plan_matches(const char *pattern, const char *text)
{
    return !pattern || fnmatch(pattern, text, FNM_CASEFOLD) == 0;
}

const char *fleet_share_path(const char *storage_dir, struct arena *a, const struct mount_volume *m)
{
    return share_folder(a, storage_dir, m->account,
                        m->kind == MOUNT_BLOBS ? SHARE_BLOBS : SHARE_FILES, m->share);
}
