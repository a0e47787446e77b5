/* SPDX-License-Identifier: MIT
 *
 * The node root: made and locked by the agent that owns it, or only read (agent.h, `looking`).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "nodeagent-proto/agent/agent.h"
#include "nodeagent-proto/agent/lock.h"
#include "nodeagent-proto/agent/users.h"

/* Removes temporary files of killed agents. Only the holder of the lock writes such files. */
static void remove_leftovers(const char *root)
{
    static const char *const written[] = {"incarnation", "epoch"};
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        char *path = fs_join(root, written[i]);
        fs_remove_leftovers(path);
        free(path);
    }
    users_remove_leftovers(root);
}

int agent_open_root(struct agent *a, const char *root, struct err *e)
{
    if (fs_mkdirs(root, 0777, e) < 0)
        return -1;
    a->root = realpath(root, NULL);
    if (!a->root)
        return err_errno(e, ERR_IO, "cannot resolve %s", root);
    a->tasks_dir = fs_join(a->root, "tasks");
    a->trash_dir = fs_join(a->root, "trash");
    if (fs_mkdirs(a->tasks_dir, 0700, e) < 0 || fs_mkdirs(a->trash_dir, 0700, e) < 0)
        return -1;
    a->lock_fd = lock_take(a->root, e);
    if (a->lock_fd < 0)
        return -1;
    remove_leftovers(a->root);
    return 0;
}

int agent_find_root(struct agent *a, const char *root, struct err *e)
{
    char *path = xstrdup(root);
    a->looks_at = xstrdup(root);
    while (!(a->root = realpath(path, NULL)) && (errno == ENOENT || errno == ENOTDIR)) {
        char *slash = strrchr(path, '/');
        slash[slash == path] = '\0'; /* "/" always exists */
    }
    int rc = a->root ? 0 : err_errno(e, ERR_IO, "cannot resolve %s", path);
    free(path);
    return rc;
}

int agent_look(const struct agent *a, struct err *e)
{
    struct stat st;
    if (stat(a->root, &st) < 0)
        return err_errno(e, ERR_IO, "cannot look at %s", a->root);
    if (!S_ISDIR(st.st_mode))
        return err_set(e, ERR_IO, NULL, "%s is not a directory; the node root is to be %s", a->root,
                       a->looks_at);
    if (faccessat(AT_FDCWD, a->root, W_OK | X_OK, AT_EACCESS) < 0)
        return err_errno(e, ERR_IO, "the node root %s cannot be used: writing to %s", a->looks_at,
                         a->root);
    return 0;
}
