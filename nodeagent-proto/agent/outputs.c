/* SPDX-License-Identifier: MIT
 *
 * Opens a task's directory and its output files in the child that becomes the command. Missing
 * directories below the root are made with root's rights, one part at a time without following
 * symbolic links; files are opened with the account's rights. The caller owns the descriptors.
 */
#include "nodeagent-proto/agent/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/fs.h"
#include "nodeagent-proto/agent/files.h"

static const char *below_root(const char *root, const char *path)
{
    size_t n = strlen(root);
    return strncmp(path, root, n) == 0 && path[n] == '/' && path[n + 1] &&
                   fs_path_is_safe(path + n + 1)
               ? path + n + 1
               : NULL;
}

/* Opens the directory `name` in `dir`; if it is missing, makes it and gives it to the account. */
static int step_into(int dir, const char *name, const struct account *owner)
{
    bool made = mkdirat(dir, name, 0777) == 0;
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && made && fchown(fd, owner->uid, owner->gid) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void make_file(int dir, const char *name, const struct account *owner)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    /* If this fails, opening the file will fail later. */
    int ignored = fchown(fd, owner->uid, owner->gid);
    (void)ignored;
    close(fd);
}

/* Makes the directories of `path`, and the file itself if `is_file`, which the account may lack the
 * right to make. Returns no result: the caller repeats its operation and so finds out whether this
 * helped. */
static void make_for(const struct outputs *o, const char *path, bool is_file)
{
    const char *rest = below_root(o->root, path);
    int dir = rest ? open(o->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    while (dir >= 0 && *rest) {
        size_t n = strcspn(rest, "/");
        char *part = xcalloc(1, n + 1);
        memcpy(part, rest, n);
        rest += n + (rest[n] == '/');
        int next = -1;
        if (*rest || !is_file)
            next = step_into(dir, part, o->account);
        else
            make_file(dir, part, o->account);
        free(part);
        close(dir);
        dir = next;
    }
    if (dir >= 0)
        close(dir);
}

/* Opens a file for appending. The rights are not checked with access(2) before, because that would
 * check the rights of the real ids. Does not follow a link, because an earlier task may have
 * replaced the file by a link to a foreign file. */
static int open_append_with(const char *path, int more_flags, struct err *e)
{
    const int flags =
        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | more_flags;
    int fd = open(path, flags, 0666);
    if (fd < 0 && errno == ENOENT) {
        if (file_make_parents(path, e) < 0)
            return -1;
        fd = open(path, flags, 0666);
    }
    return fd >= 0 ? fd : err_errno(e, ERR_NODE, "cannot open the output file %s", path);
}

static int open_append(const char *path, struct err *e)
{
    return open_append_with(path, 0, e);
}

static int open_log(const char *path, struct err *e)
{
    return open_append_with(path, O_NONBLOCK, e);
}

static int enter(const char *dir, struct err *e)
{
    if (chdir(dir) == 0)
        return 0;
    if (errno == ENOENT && fs_mkdirs(dir, 0777, e) < 0)
        return err_prefix(e, "cannot make the working directory");
    return chdir(dir) == 0 ? 0
                           : err_errno(e, ERR_NODE, "cannot enter the working directory %s", dir);
}

static int try_as(const struct outputs *o, int (*act)(const char *path, struct err *e),
                  const char *path, struct err *e)
{
    if (account_assume(o->account, e) < 0)
        return -1;
    int rc = act(path, e);
    if (o->account)
        account_resume();
    if (rc < 0 && o->account)
        err_prefix(e, "as '%s'", o->account->name);
    return rc;
}

static int act_as(const struct outputs *o, int (*act)(const char *path, struct err *e),
                  const char *path, bool is_file, struct err *e)
{
    mode_t mask = account_umask(o->account);
    int rc = try_as(o, act, path, e);
    if (rc < 0 && o->account && getuid() == 0 && o->account->uid != 0) {
        make_for(o, path, is_file);
        rc = try_as(o, act, path, e);
    }
    (void)umask(mask);
    return rc;
}

static int open_output(const struct outputs *o, const char *path, struct err *e)
{
    return act_as(o, open_append, path, true, e);
}

int outputs_open_log(const struct outputs *o, const char *path)
{
    struct err e;
    return act_as(o, open_log, path, true, &e);
}

static int open_both(int (*open_one)(const struct outputs *o, const char *path, struct err *e),
                     const struct outputs *o, struct output_files *f, struct err *e)
{
    f->out = open_one(o, f->out_path, e);
    f->error = f->out >= 0 ? open_one(o, f->error_path, e) : -1;
    if (f->out >= 0 && f->error < 0)
        close(f->out);
    return f->error < 0 ? -1 : 0;
}

static int open_assumed(const struct outputs *o, const char *path, struct err *e)
{
    (void)o;
    return open_append(path, e);
}

/* Does everything with one change of rights, which is enough in most cases. False: the caller
 * starts again from the beginning, in the slower way. */
static bool enter_at_once(const struct outputs *o, const char *dir, struct output_files *f)
{
    struct err e;
    mode_t mask = account_umask(o->account);
    bool assumed = account_assume(o->account, &e) == 0;
    bool done = assumed && enter(dir, &e) == 0 && open_both(open_assumed, o, f, &e) == 0;
    if (assumed && o->account)
        account_resume();
    (void)umask(mask);
    return done;
}

int outputs_enter(const struct outputs *o, const char *dir, struct output_files *f, struct err *e)
{
    if (enter_at_once(o, dir, f))
        return 0;
    return act_as(o, enter, dir, false, e) < 0 || open_both(open_output, o, f, e) < 0 ? -1 : 0;
}

static int open_read(const char *path, struct err *e)
{
    (void)e;
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
}

int outputs_open_read(const struct outputs *o, const char *path)
{
    struct err e = {.code = ERR_NONE};
    return try_as(o, open_read, path, &e);
}
