/* SPDX-License-Identifier: MIT
 *
 * Queries, and making, removing and renaming of files, and the removal of unfinished files that a
 * killed daemon left. Each function syncs a directory before it
 * reports that a name in it was made or removed.
 */
#include "storage/folders/change.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "storage/folders/act_priv.h"
#include "storage/folders/unfinished_priv.h"

/* --- facts ------------------------------------------------------------------------------------ */

static enum file_fault run_facts(struct act *a)
{
    return place_find(a->share, a->path, &a->fd, &a->r.facts);
}

void files_facts(struct files *f, const struct file_place *at, files_changed cb, void *ctx)
{
    act_begin(f, act_new(f, run_facts, at, cb, ctx));
}

/* --- many at once ----------------------------------------------------------------------------- */

struct there_job {
    struct act act; /* must be first */
    char **path;    /* owned */
    bool *there;    /* owned */
    size_t n;
};

static enum file_fault run_there(struct act *a)
{
    struct there_job *t = CONTAINER_OF(a, struct there_job, act);
    struct stat st;
    int dir = open(a->share, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 && errno != ENOENT)
        return fault_of(errno);
    for (size_t i = 0; dir >= 0 && i < t->n; i++)
        t->there[i] = fstatat(dir, t->path[i], &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (dir >= 0)
        close(dir);
    a->r.there = t->there;
    return FILE_FINE;
}

static void there_destroy(struct folder_job *job)
{
    struct there_job *t = CONTAINER_OF(CONTAINER_OF(job, struct act, job), struct there_job, act);
    for (size_t i = 0; i < t->n; i++)
        free(t->path[i]);
    free(t->path);
    free(t->there);
    act_free(&t->act);
}

static const struct job_kind there_kind = {
    .step = act_step, .tell = act_tell, .destroy = there_destroy};

void files_there(struct files *f, const char *share, const char *const *paths, size_t n,
                 files_changed cb, void *ctx)
{
    struct there_job *t = xcalloc(1, sizeof *t);
    act_init(&t->act, &there_kind, run_there, cb, ctx);
    t->act.share = xstrdup(share);
    t->n = n;
    t->path = xcalloc(n ? n : 1, sizeof *t->path);
    t->there = xcalloc(n ? n : 1, sizeof *t->there);
    for (size_t i = 0; i < n; i++)
        t->path[i] = xstrdup(paths[i]);
    act_begin(f, &t->act);
}

/* --- times ------------------------------------------------------------------------------------ */

static enum file_fault run_set_times(struct act *a)
{
    char link[64];
    const struct timespec times[] = {time_to_set(a->atime_ns), time_to_set(a->mtime_ns)};
    enum file_fault fault = place_find(a->share, a->path, &a->fd, &a->r.facts);
    if (fault)
        return fault;
    snprintf(link, sizeof link, "/proc/self/fd/%d", a->fd);
    if (utimensat(AT_FDCWD, link, times, 0) < 0)
        return fault_of(errno);
    return facts_of(a->fd, &a->r.facts);
}

void files_set_times(struct files *f, const struct file_place *at, int64_t mtime_ns,
                     int64_t atime_ns, files_changed cb, void *ctx)
{
    struct act *a = act_new(f, run_set_times, at, cb, ctx);
    a->mtime_ns = mtime_ns;
    a->atime_ns = atime_ns;
    act_begin(f, a);
}

/* --- leftovers -------------------------------------------------------------------------------- */

void unfinished_sweep(int dir, const char *name)
{
    int fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(dir, name, 0);
    close(fd);
}

void unfinished_sweep_all(int at, const char *path)
{
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir && fd >= 0)
        close(fd);
    for (const struct dirent *de; dir && (de = readdir(dir));)
        if (place_is_unfinished(de->d_name))
            unfinished_sweep(dirfd(dir), de->d_name);
    if (dir)
        closedir(dir);
}

void files_sweep(const char *folder)
{
    unfinished_sweep_all(AT_FDCWD, folder);
}

/* --- making and removing names --- */

/* What exists under `name`, and so prevents a new entry: a file or a directory. */
static enum file_fault what_is_there(int dir, const char *name)
{
    struct file_facts facts;
    bool is_link = false;
    enum file_fault fault = facts_at(dir, name, &facts, &is_link);
    if (fault && !is_link)
        return fault;
    return facts.is_directory ? FILE_IS_DIRECTORY : FILE_IS_FILE;
}

/* Call when a name in the directory was made or removed: sets the directory's time and syncs it. */
static enum file_fault changed(const struct act *a, int dir)
{
    place_set_time(dir, a->time_ns);
    errno = a->sync ? place_sync_directory(dir) : 0;
    return fault_of(errno);
}

static enum file_fault make_directory(struct act *a, const struct above *up)
{
    const struct new_directory how = {a->mode, a->time_ns};
    errno = place_make_directory(up->dir, up->name, &how);
    if (errno == EEXIST)
        return what_is_there(up->dir, up->name);
    if (errno)
        return fault_of(errno);
    enum file_fault fault = facts_at(up->dir, up->name, &a->r.facts, NULL);
    return fault ? fault : changed(a, up->dir);
}

static enum file_fault remove_directory(struct act *a, const struct above *up)
{
    int rc = unlinkat(up->dir, up->name, AT_REMOVEDIR);
    if (rc < 0 && (errno == EEXIST || errno == ENOTEMPTY)) {
        unfinished_sweep_all(up->dir, up->name); /* unfinished files, which nobody sees */
        rc = unlinkat(up->dir, up->name, AT_REMOVEDIR);
    }
    if (rc == 0)
        return changed(a, up->dir);
    if (errno == ENOTDIR)
        return what_is_there(up->dir, up->name);
    return fault_of(errno == EEXIST ? ENOTEMPTY : errno);
}

/* Removes a file, or a link that is shown as a file. Special files, and links to directories,
 * stay. */
static enum file_fault remove_file(struct act *a, const struct above *up)
{
    bool is_link = false;
    int fd = -1;
    enum file_fault fault = facts_at(up->dir, up->name, &a->r.facts, &is_link);
    if (is_link)
        fault = place_find(a->share, a->path, &fd, &a->r.facts);
    if (fd >= 0)
        close(fd);
    if (!fault && a->r.facts.is_directory)
        fault = FILE_IS_DIRECTORY;
    uint64_t size = is_link ? 0 : a->r.facts.size;
    a->r.facts = (struct file_facts){0};
    if (fault || act_is_for_worker(a, size))
        return fault;
    if (unlinkat(up->dir, up->name, 0) < 0)
        return fault_of(errno);
    return changed(a, up->dir);
}

/* Calls a function with a name and its parent directory. */
static enum file_fault with_above(struct act *a,
                                  enum file_fault (*change)(struct act *, const struct above *))
{
    struct above up;
    enum file_fault fault = above_enter(a->share, a->path, &up);
    if (!fault)
        fault = change(a, &up);
    above_leave(&up);
    return fault;
}

/* The share's own folder counts as an existing directory. */
static enum file_fault run_make_directory(struct act *a)
{
    return *a->path ? with_above(a, make_directory) : FILE_IS_DIRECTORY;
}

static enum file_fault run_remove_directory(struct act *a)
{
    return with_above(a, remove_directory);
}

static enum file_fault run_remove_file(struct act *a)
{
    return with_above(a, remove_file);
}

void files_make_directory(struct files *f, const struct file_place *at, mode_t mode,
                          files_changed cb, void *ctx)
{
    struct act *a = act_new(f, run_make_directory, at, cb, ctx);
    a->mode = mode;
    act_begin(f, a);
}

void files_remove_directory(struct files *f, const struct file_place *at, files_changed cb,
                            void *ctx)
{
    act_begin(f, act_new(f, run_remove_directory, at, cb, ctx));
}

void files_remove_file(struct files *f, const struct file_place *at, files_changed cb, void *ctx)
{
    act_begin(f, act_new(f, run_remove_file, at, cb, ctx));
}

/* --- renaming --------------------------------------------------------------------------------- */

static enum file_fault rename_both(struct act *a, const struct above *from, const struct above *to)
{
    struct file_facts there;
    enum file_fault fault = facts_at(from->dir, from->name, &a->r.facts, NULL);
    if (fault)
        return fault;
    fault = facts_at(to->dir, to->name, &there, NULL);
    a->r.existed = fault != FILE_MISSING;
    if (fault && fault != FILE_MISSING)
        return fault;
    if (!fault && (!a->replaces || there.is_directory || a->r.facts.is_directory))
        return there.is_directory ? FILE_IS_DIRECTORY : FILE_IS_FILE;
    if (!fault && act_is_for_worker(a, there.size))
        return FILE_FINE;
    if ((fault ? place_rename_new(from->dir, from->name, to->dir, to->name)
               : renameat(from->dir, from->name, to->dir, to->name)) < 0)
        return errno == EEXIST   ? what_is_there(to->dir, to->name)
               : errno == EINVAL ? FILE_BAD_NAME /* a directory into itself */
                                 : fault_of(errno);
    fault = facts_at(to->dir, to->name, &a->r.facts, NULL);
    if (!fault)
        fault = changed(a, to->dir);
    return fault ? fault : changed(a, from->dir);
}

static enum file_fault run_rename(struct act *a)
{
    struct above from, to = {.dir = -1};
    enum file_fault fault = above_enter(a->share, a->path, &from);
    if (fault == FILE_PARENT_MISSING)
        fault = FILE_MISSING;
    if (!fault)
        fault = above_enter(a->share, a->to, &to);
    if (!fault)
        fault = rename_both(a, &from, &to);
    above_leave(&to);
    above_leave(&from);
    return fault;
}

void files_rename(struct files *f, const struct files_rename *what, files_changed cb, void *ctx)
{
    struct act *a = act_new(f, run_rename, &what->at, cb, ctx);
    a->to = xstrdup(what->to);
    a->replaces = what->replaces;
    act_begin(f, a);
}
