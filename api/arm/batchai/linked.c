/* SPDX-License-Identifier: MIT
 *
 * Checks the rights that a body needs in addition to the right to its resource: for file servers,
 * for a subnet, and for work that runs as the nodes' administrator (root). An option of a mount is
 * harmless only if it is in the list below. Keeps no state. Called only on the loop's thread.
 */
#include "api/arm/batchai/linked.h"

#include <stdbool.h>
#include <string.h>

#include "api/access/roles.h"
#include "api/arm/batchai/render.h"
#include "api/arm/may.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/front/batchai/batchai.h"
#include "scheduler/scheduler.h"
#include "scheduler/site/site.h"

/* Options of mount(8), nfs(5), mount.cifs(8), fuse(8) and blobfuse, without dashes. */
static const char *const harmless[] = {
    /* mount(8) */
    "ro", "rw", "exec", "noexec", "nosuid", "nodev", "atime", "noatime", "nodiratime", "relatime",
    "strictatime", "sync", "async", "dirsync", "_netdev", "nofail", "defaults",
    /* nfs(5) */
    "vers", "nfsvers", "minorversion", "proto", "tcp", "udp", "hard", "soft", "softerr", "intr",
    "nointr", "fg", "timeo", "retrans", "retry", "rsize", "wsize", "ac", "noac", "actimeo",
    "acregmin", "acregmax", "acdirmin", "acdirmax", "cto", "nocto", "lock", "nolock", "local_lock",
    "lookupcache", "nconnect", "noresvport", "resvport", "acl", "noacl",
    /* mount.cifs(8) */
    "cache", "file_mode", "dir_mode", "serverino", "noserverino", "mfsymlinks", "nobrl",
    "nosharesock",
    /* fuse(8) and sshfs(1) */
    "allow_other", "default_permissions", "attr_timeout", "entry_timeout", "negative_timeout",
    "kernel_cache", "auto_cache", "max_read", "reconnect",
    /* blobfuse and blobfuse2 */
    "read-only", "use-https", "use-attr-cache", "use-adls", "virtual-directory", "log-level",
    "file-cache-timeout", "file-cache-timeout-in-seconds", "attr-cache-timeout",
    "entry-cache-timeout", "cache-size-mb", "tmp-size-mb", "max-concurrency",
    "cancel-list-on-mount-seconds", "high-disk-threshold", "low-disk-threshold", "empty-dir-check"};

static bool is_harmless(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (strlen(harmless[i]) == len && strncmp(harmless[i], word, len) == 0)
            return true;
    return false;
}

/* The first option that only an administrator may use, because it can name files or programs of the
 * node, or permit suid programs or devices on the mount; NULL: there is none. `options` is the text
 * of a volume, "-o" with a list, or arguments that begin with dashes; NULL: no options. */
static const char *admin_option(struct arena *a, const char *options)
{
    static const char between[] = ", \t";
    for (const char *p = options ? options : ""; *p; p += strcspn(p, between)) {
        p += strspn(p, between);
        size_t whole = strcspn(p, between);
        const char *word = p + strspn(p, "-");
        size_t len = strcspn(word, ", \t=");
        bool flag = whole == 2 && strncmp(p, "-o", 2) == 0;
        if (whole > 0 && !flag && !is_harmless(word, len))
            return arena_strndup(a, p, whole);
    }
    return NULL;
}

/* The path of the mounted file server for the check of rights, for any spelling of its id. */
static const char *file_server_scope(struct request *r, const char *id)
{
    struct scope s;
    const char *name;
    return batchai_file_server_named(&r->arena, id, &s, &name)
               ? render_id(r, &s, "fileServers", name)
               : id;
}

/* A text that names the part of a volume that runs as the nodes' administrator; NULL: none does. */
static const char *as_admin(struct arena *a, const struct mount_volume *m)
{
    const char *option = admin_option(a, m->options);
    if (m->kind == MOUNT_UNMANAGED)
        return arena_printf(a, "the mountCommand of %.60s in mountVolumes", m->relative_path);
    return option ? arena_printf(a, "the option %.60s in mountOptions of %.60s in mountVolumes",
                                 option, m->relative_path)
                  : NULL;
}

static int check_as_admin(struct request *r, const struct mount_volume *m, const char *cluster_id,
                          struct err *e)
{
    const char *what = as_admin(&r->arena, m);
    if (!what || arm_check_linked(r, ACTION_RUN_AS_ADMIN, cluster_id, e) == 0)
        return 0;
    return err_prefix(e, "Only an administrator of the nodes may use this: %s", what);
}

int check_linked_mounts(struct request *r, const struct mount_list *mounts, const char *cluster_id,
                        struct err *e)
{
    for (size_t i = 0; i < mounts->n; i++) {
        const struct mount_volume *m = &mounts->items[i];
        if (m->kind == MOUNT_FILE_SERVER &&
            arm_check_linked(r, "Microsoft.BatchAI/workspaces/fileServers/read",
                             file_server_scope(r, m->source), e) < 0)
            return -1;
        if (check_as_admin(r, m, cluster_id, e) < 0)
            return -1;
    }
    return 0;
}

int check_linked_container(struct request *r, const char *cluster_id, struct err *e)
{
    const struct site *site = fleet_site(sched_fleet(arm_of(r)->sched));
    if (!site || !site->image_users || arm_check_linked(r, ACTION_RUN_AS_ADMIN, cluster_id, e) == 0)
        return 0;
    return err_prefix(e,
                      "Only an administrator of the nodes may use this: containerSettings, because "
                      "containers run as the users of their images (containers.user: image)");
}

int check_linked_subnet(struct request *r, const json_t *doc, struct err *e)
{
    const char *subnet = own_subnet(doc);
    return subnet ? arm_check_linked(r, "Microsoft.Network/virtualNetworks/subnets/join/action",
                                     subnet, e)
                  : 0;
}
