/* SPDX-License-Identifier: MIT
 *
 * Finds the host of a file server, and plans the mounts of its volumes.
 */
#include <string.h>

#include "lib/fs.h"
#include "lib/shell.h"
#include "scheduler/fleet/mount/plan_priv.h"

static void place_nfs(struct arena *a, const struct site_file_server_rule *r,
                      const struct mount_words *w, struct file_server_backing *out)
{
    const char *source = mount_fill(a, r->nfs, w, false);
    const char *colon = strstr(source, ":/");
    size_t n = colon ? (size_t)(colon - source) : strlen(source);
    out->host = arena_strndup(a, source, n);
    out->directory = colon ? colon + 1 : "/";
}

static void place_machine(struct arena *a, const struct site *site,
                          const struct site_file_server_rule *r, const struct mount_words *w,
                          struct file_server_backing *out)
{
    out->machine = out->host = r->machine;
    out->directory = mount_fill(a, r->directory, w, false);
    for (size_t i = 0; i < site->n_machines; i++)
        if (strcmp(site->machines[i].name, r->machine) == 0)
            out->host = site->machines[i].host;
}

bool file_server_backing(struct arena *a, const struct site *site, int local_nodes,
                         const char *storage_dir, const struct file_server *f,
                         struct file_server_backing *out)
{
    const struct mount_words w = {.workspace = f->scope.workspace, .name = f->name};
    *out = (struct file_server_backing){0};
    for (size_t i = 0; site && i < site->n_file_servers; i++) {
        const struct site_file_server_rule *r = &site->file_servers[i];
        if (!plan_matches(r->name, f->name))
            continue;
        out->options = r->options;
        if (r->nfs)
            place_nfs(a, r, &w, out);
        else
            place_machine(a, site, r, &w, out);
        return true;
    }
    if (local_nodes <= 0)
        return false;
    out->is_local = true;
    out->host = "127.0.0.1";
    out->directory = arena_printf(a, "%s/" FILE_SERVERS_DIR "/%s", storage_dir, f->guid);
    return true;
}

/* Returns sourceDirectory relative to the exported directory; NULL: it is outside. Users also write
 * sourceDirectory as a path below mountSettings.mountPoint. */
static const char *source_below(struct arena *a, const char *directory, const char *source)
{
    size_t n = strlen(directory);
    if (!source)
        return "";
    if (strncmp(source, directory, n) == 0 && (source[n] == '/' || !source[n]))
        source += n;
    source += strspn(source, "/");
    char *below = arena_strdup(a, source);
    for (size_t len = strlen(below); len > 0 && below[len - 1] == '/';)
        below[--len] = '\0';
    return !*below || fs_path_is_safe(below) ? below : NULL;
}

static bool refuse_unserved(struct planning *p, const struct file_server *f)
{
    return plan_refuse(p, FAIL_FILE_SERVER_NOT_CONFIGURED,
                       arena_printf(p->a, "%s: no rule in the configuration serves file server %s",
                                    p->out->what, f->name),
                       arena_printf(p->a,
                                    PLAN_ADD_RULE
                                    ":\nfile_servers:\n  - name: %s\n    nfs: HOST:/export/{name}",
                                    f->name));
}

static bool refuse_unready(struct planning *p, const struct file_server *f)
{
    bool failed = f->prov_state == PROV_FAILED;
    return plan_refuse(
        p, p->out->code,
        arena_printf(p->a, "%s: %s", p->out->what,
                     failed ? "the file server could not be set up"
                            : "the file server is being set up still"),
        failed ? "delete the file server and create it again; its creation reports the problem"
               : "try again when its provisioningState is succeeded");
}

static bool plan_place(struct planning *p, const struct file_server_backing *at, const char *below)
{
    struct arena *a = p->a;
    const char *slash = *below && strcmp(at->directory, "/") != 0 ? "/" : "";
    const char *directory = arena_printf(a, "%s%s%s", at->directory, slash, below);
    if (at->is_local && p->node->is_local) {
        p->out->folder = directory;
        p->out->within = at->directory;
        p->out->shared = true;
        return true;
    }
    if (!p->node->is_root)
        return plan_refuse_without_root(p, "nfs");
    const char *parts[] = {at->options, plan_own_options(p)};
    bool bare_v6 = at->host[0] != '[' && strchr(at->host, ':');
    const char *source = arena_printf(a, bare_v6 ? "[%s]:%s" : "%s:%s", at->host, directory);
    p->out->remedy = "see that the file server exports the directory to this machine, and that the "
                     "machine has mount.nfs";
    plan_set_command(p, arena_printf(a, "mount -t nfs %s%s %s", plan_options(p, parts, 2),
                                     shell_quoted(a, source), shell_quoted(a, p->out->target)));
    return true;
}

bool plan_file_server(struct planning *p, const struct file_server *f)
{
    struct arena *a = p->a;
    struct file_server_backing at;
    p->out->code = FAIL_FILE_SERVER_MOUNT_ERROR;
    p->out->what = arena_printf(a, "mount of file server %s at %s", f ? f->name : p->m->source,
                                p->m->relative_path);
    if (!f)
        return plan_refuse(p, FAIL_FILE_SERVER_NOT_FOUND,
                           arena_printf(a, "%s: there is none", p->out->what),
                           "create it, or leave the volume out");
    if (!file_server_backing(a, p->node->site, p->node->local_nodes, p->node->storage_dir, f,
                             &at) ||
        (at.is_local && !p->node->is_local))
        return refuse_unserved(p, f);
    if (f->prov_state != PROV_SUCCEEDED)
        return refuse_unready(p, f);
    const char *below = source_below(a, at.directory, p->m->source_directory);
    if (!below)
        return plan_refuse(p, p->out->code,
                           front_say(p->node->words, a,
                                     "%s: {source_directory} %s is not a directory below what the "
                                     "file server serves",
                                     p->out->what, p->m->source_directory),
                           "name it relative to the file server's own directory, without \"..\"");
    return plan_place(p, &at, below);
}
