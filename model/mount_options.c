/* SPDX-License-Identifier: MIT */
#include "model/mount_options.h"

#include <stdbool.h>
#include <string.h>

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

const char *mount_options_beyond(struct arena *a, const char *options)
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
