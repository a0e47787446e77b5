/* SPDX-License-Identifier: MIT
 *
 * Resolves a path as the kernel would, one step at a time, so that it can stop before a mount that
 * may be dead.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/strbuf.h"
#include "nodeagent-proto/agent/mounts.h"

#define LINKS_MAX 40 /* the limit of the kernel */

static bool is_remote(const char *type)
{
    static const char *const types[] = {"nfs",    "nfs4",   "cifs", "smb3",   "smbfs",  "9p",
                                        "ceph",   "lustre", "gpfs", "beegfs", "wekafs", "afs",
                                        "autofs", "gfs2",   "fuse", "ocfs2",  "pvfs2",  "orangefs"};
    if (strncmp(type, "fuse.", 5) == 0)
        return true;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(type, types[i]) == 0)
            return true;
    return false;
}

/* True: the mount may hang. The mount that contains `root` itself does not count. */
static bool may_hang(const struct mount_point *mount, const char *root)
{
    return is_remote(mount->type) && !mounts_is_within(mount->path, root);
}

static bool is_risky(const struct agent_mounts *m, const char *root, const char *path)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->items[i].path, path) == 0 && may_hang(&m->items[i], root))
            return true;
    return false;
}

static bool is_any_risky(const struct agent_mounts *m, const char *root)
{
    for (size_t i = 0; i < m->n; i++)
        if (may_hang(&m->items[i], root))
            return true;
    return false;
}

static void step_up(struct strbuf *at)
{
    char *slash = at->len ? strrchr(at->s, '/') : NULL;
    if (slash) {
        *slash = '\0';
        at->len = (size_t)(slash - at->s);
    }
}

/* Replaces the link at `at` by its target: puts the target before the rest of the path, which
 * begins at `done`. False: the link cannot be read. */
static bool follow(struct strbuf *at, struct strbuf *rest, size_t done)
{
    char target[PATH_MAX];
    struct strbuf more = STRBUF_INIT;
    ssize_t n = readlink(at->s, target, sizeof target - 1);
    if (n <= 0)
        return false;
    target[n] = '\0';
    strbuf_printf(&more, "%s/%s", target, rest->s + done);
    if (*target == '/')
        strbuf_reset(at);
    else
        step_up(at);
    strbuf_free(rest);
    *rest = more;
    return true;
}

static bool goes_over_risky(const struct agent_mounts *m, const char *root, const char *path)
{
    struct strbuf at = STRBUF_INIT, rest = STRBUF_INIT;
    struct stat st;
    bool risky = false;
    int links = 0;
    strbuf_puts(&rest, path);
    for (size_t pos = 0; !risky && pos < rest.len;) {
        const char *part = rest.s + pos;
        size_t n = strcspn(part, "/");
        pos += n + (part[n] == '/');
        if (n == 0 || (n == 1 && *part == '.'))
            continue;
        if (n == 2 && strncmp(part, "..", 2) == 0) {
            step_up(&at);
            continue;
        }
        strbuf_printf(&at, "/%.*s", (int)n, part);
        risky = is_risky(m, root, at.s);
        if (risky || lstat(at.s, &st) < 0)
            break; /* the path does not exist, so there is no mount below it */
        if (!S_ISLNK(st.st_mode))
            continue;
        if (++links > LINKS_MAX || !follow(&at, &rest, pos))
            break;
        pos = 0;
    }
    strbuf_free(&at);
    strbuf_free(&rest);
    return risky;
}

bool mounts_may_hang(struct mounts_kept *k, const char *root, const char *path)
{
    const struct agent_mounts *m = mounts_now(k);
    if (!m)
        return true; /* the list of mounts is not known */
    return is_any_risky(m, root) && goes_over_risky(m, root, path);
}
