/* SPDX-License-Identifier: MIT
 *
 * Lists the things below a root by kind, and removes them: tasks, accounts, mounts, directories.
 * Entries that no agent has made are not removed; they are an error.
 */
#include "nodeagent-proto/agent/clean.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/jsontext.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/leases.h"
#include "nodeagent-proto/agent/mounts.h"
#include "nodeagent-proto/agent/users.h"
#include "nodeagent-proto/wire/remote.h"

static const char *const own[] = {"tasks", "trash", "agent.lock", "incarnation",
                                  "epoch", "users", "accounts",   REMOTE_DIR};

bool clean_is_own(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strlen(own[i]) == n && strncmp(own[i], name, n) == 0)
            return true;
    return false;
}

/* Calls fn with the path of each entry of `dir` that is not a file of the agent; ends at the first
 * failure. */
static int each_entry(const char *dir,
                      int (*fn)(void *ctx, const char *root, const char *path, struct err *e),
                      void *ctx, struct err *e)
{
    DIR *d = opendir(dir);
    struct dirent *de;
    int rc = d || errno == ENOENT ? 0 : err_errno(e, ERR_IO, "cannot list %s", dir);
    while (d && rc == 0 && (de = readdir(d))) {
        if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0 ||
            clean_is_own(de->d_name, strlen(de->d_name)))
            continue;
        char *path = fs_join(dir, de->d_name);
        rc = fn(ctx, dir, path, e);
        free(path);
    }
    if (d)
        closedir(d);
    return rc;
}

static void add(json_t *found, const char *kind, const char *what, const char *type)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, type ? "%s %s (%s)" : "%s %s", kind, what, type);
    json_array_append_new(found, jsontext_string(b.s));
    strbuf_free(&b);
}

static int list_entry(void *ctx, const char *root, const char *path, struct err *e)
{
    (void)root;
    (void)e;
    add(ctx, "directory", path, NULL);
    return 0;
}

static int list_account(void *ctx, const char *dir, const char *path, struct err *e)
{
    (void)e;
    add(ctx, "account", path + strlen(dir) + 1, NULL);
    return 0;
}

int clean_list(const char *root, json_t *found, struct err *e)
{
    struct agent_mounts m;
    char *users = fs_join(root, "users");
    int rc = each_entry(users, list_account, found, e);
    free(users);
    if (rc < 0 || lease_list(root, found, e) < 0 || mounts_read(&m, e) < 0)
        return -1;
    for (size_t i = 0; i < m.n; i++)
        if (mounts_is_within(root, m.items[i].path) && strcmp(root, m.items[i].path) != 0)
            add(found, "mount", m.items[i].path, m.items[i].type);
    mounts_free(&m);
    return each_entry(root, list_entry, found, e);
}

static int take_entry(void *ctx, const char *root, const char *path, struct err *e)
{
    (void)ctx;
    if (mounts_detach_within(root, path, e) < 0 || mounts_refuse_within(NULL, path, e) < 0)
        return -1;
    return fs_remove_tree(path, e);
}

int clean_take(const struct uid_holder *h, bool is_root, struct err *e)
{
    if (is_root && (users_remove_all(h->root, e) < 0 || lease_release_all(h, e) < 0))
        return -1;
    return each_entry(h->root, take_entry, NULL, e);
}

static int refuse_entry(void *ctx, const char *root, const char *path, struct err *e)
{
    (void)ctx;
    (void)root;
    return err_set(e, ERR_CONFLICT, "root", "the node root stays: %s is still there", path);
}

int clean_remove_root(const char *root, struct err *e)
{
    if (each_entry(root, refuse_entry, NULL, e) < 0)
        return -1;
    char *users = fs_join(root, "users");
    int rc = rmdir(users) == 0 || errno == ENOENT
                 ? 0
                 : err_set(e, ERR_CONFLICT, "root", "the node root stays: there are accounts in %s",
                           users);
    free(users);
    for (size_t i = 0; rc == 0 && i < sizeof own / sizeof own[0]; i++) {
        char *path = fs_join(root, own[i]);
        rc = fs_remove_tree(path, e);
        free(path);
    }
    /* The root may be a mount point, or its parent directory may be closed to the agent's account.
     * Then the empty root remains. */
    if (rc == 0 && rmdir(root) < 0 && errno != EBUSY && errno != EACCES && errno != EPERM)
        rc = err_errno(e, ERR_IO, "cannot remove %s", root);
    return rc;
}
