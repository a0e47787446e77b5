/* SPDX-License-Identifier: MIT
 *
 * The content of a directory, some entries a step, and the removal of whole trees.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"
#include "lib/container.h"
#include "lib/fs.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "storage/folders/files_priv.h"
#include "storage/folders/names_priv.h"
#include "storage/folders/place_priv.h"

/* How many entries one step reads: each takes one or two calls, some ms altogether on a nearby
 * server. */
#define ENTRIES_A_STEP 256

static void entries_free(struct file_entries *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->entry[i].name);
    free(l->entry);
    *l = (struct file_entries){0};
}

struct list_job {
    struct folder_job job;
    char *folder, *path, *base;
    size_t max;
    bool files_only, all_names;
    DIR *dir; /* open between steps */
    struct file_entries found;
    int error;
    bool base_is_missing;
    files_listed cb;
    void *ctx;
};

/* --- entries ---------------------------------------------------------------------------------- */

/* Reads the facts of a link's target, if it is inside the share. */
static int stat_link(const struct list_job *l, const char *name, struct stat *st)
{
    /* the link may lie in the share's own folder */
    char *path = *l->path ? fs_join(l->path, name) : xstrdup(name);
    int fd = fs_open_beneath(l->folder, path, O_PATH);
    int rc = fd < 0 ? -1 : fstat(fd, st);
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

/* A link to a directory is not shown, because it could make a client's walk endless. */
static bool may_show(const struct list_job *l, const char *name, struct stat *st)
{
    if (!jsontext_is_utf8(name, strlen(name)))
        return false;
    if (S_ISLNK(st->st_mode))
        return stat_link(l, name, st) == 0 && S_ISREG(st->st_mode);
    return S_ISREG(st->st_mode) || (S_ISDIR(st->st_mode) && !l->files_only);
}

static void keep(struct file_entries *found, const char *name, const struct stat *st)
{
    if ((found->n & (found->n - 1)) == 0)
        found->entry = xrealloc(found->entry, (found->n ? found->n * 2 : 1) * sizeof *found->entry);
    found->entry[found->n++] =
        (struct file_entry){.name = xstrdup(name),
                            .is_dir = S_ISDIR(st->st_mode),
                            .size = st->st_size,
                            .mtime_us = time_from_file(st->st_mtim.tv_sec, 0)};
}

static void look_at(struct list_job *l, const char *name)
{
    struct stat st = {0};
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || place_is_unfinished(name))
        return;
    if (!l->all_names && fstatat(dirfd(l->dir), name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* the entry was removed a moment ago */
    if (!l->all_names && (!may_show(l, name, &st) || l->found.n == l->max))
        l->found.left_out++;
    else
        keep(&l->found, name, &st);
}

/* --- the job ---------------------------------------------------------------------------------- */

static bool is_missing(const struct list_job *l, const char *path)
{
    int fd = fs_open_beneath(l->folder, path, O_PATH);
    if (fd >= 0)
        close(fd);
    return fd < 0 && errno == ENOENT;
}

static int open_directory(struct list_job *l)
{
    int fd = -1;
    errno = ENOENT;
    if (!place_has_unfinished(l->path))
        fd = fs_open_beneath(l->folder, l->path, O_RDONLY | O_DIRECTORY);
    l->dir = fd < 0 ? NULL : fdopendir(fd);
    if (l->dir)
        return 0;
    l->error = errno;
    l->base_is_missing = l->error == ENOENT && l->base && is_missing(l, l->base);
    if (fd >= 0)
        close(fd);
    return -1;
}

int file_entry_by_name(const void *a, const void *b)
{
    return strcmp(((const struct file_entry *)a)->name, ((const struct file_entry *)b)->name);
}

static bool list_step(struct folder_job *job)
{
    struct list_job *l = CONTAINER_OF(job, struct list_job, job);
    struct dirent *de = NULL;
    if (!l->dir && open_directory(l) < 0)
        return false;
    for (int i = 0; i < ENTRIES_A_STEP && (de = readdir(l->dir)); i++)
        look_at(l, de->d_name);
    if (de && l->found.n < l->max)
        return true;
    closedir(l->dir);
    l->dir = NULL;
    if (l->found.n > 1)
        qsort(l->found.entry, l->found.n, sizeof *l->found.entry, file_entry_by_name);
    return false;
}

static void list_tell(struct folder_job *job, const struct err *why)
{
    struct list_job *l = CONTAINER_OF(job, struct list_job, job);
    struct err e;
    if (!why && l->error) {
        file_error(&e, l->error);
        l->cb(l->ctx, &e, NULL, l->base_is_missing);
        return;
    }
    l->cb(l->ctx, why, why ? NULL : &l->found, false);
}

/* Closes the directory, which is still open if the job ended between two steps. */
static void list_destroy(struct folder_job *job)
{
    struct list_job *l = CONTAINER_OF(job, struct list_job, job);
    if (l->dir)
        close_directory_later(job->share, l->dir);
    entries_free(&l->found);
    free(l->folder);
    free(l->path);
    free(l->base);
    free(l);
}

static const struct job_kind list_kind = {
    .step = list_step, .tell = list_tell, .destroy = list_destroy};

void files_list(struct files *f, const struct files_list *what, files_listed cb, void *ctx)
{
    struct list_job *l = xcalloc(1, sizeof *l);
    *l = (struct list_job){.job.kind = &list_kind,
                           .folder = xstrdup(what->at.share),
                           .path = xstrdup(what->at.path),
                           .base = what->base ? xstrdup(what->base) : NULL,
                           .max = what->max,
                           .files_only = what->files_only,
                           .cb = cb,
                           .ctx = ctx};
    assert(what->max > 0);
    job_begin(f, what->at.share, &l->job);
}

/* --- work for the daemon itself --------------------------------------------------------------- */

static const struct job_kind names_kind = {list_step, list_tell, list_destroy, .is_own = true};

void files_names(struct files *f, const char *folder, files_listed cb, void *ctx)
{
    struct list_job *l = xcalloc(1, sizeof *l);
    *l = (struct list_job){.job.kind = &names_kind,
                           .folder = xstrdup(folder),
                           .path = xstrdup(""),
                           .max = SIZE_MAX,
                           .all_names = true,
                           .cb = cb,
                           .ctx = ctx};
    job_begin(f, folder, &l->job);
}

/* A job on a path that only the daemon uses. */
struct path_job {
    struct folder_job job;
    char *path;
    int rc;
    struct err e;
    files_done cb;
    void *ctx;
};

static bool look_step(struct folder_job *job)
{
    struct path_job *p = CONTAINER_OF(job, struct path_job, job);
    struct stat st;
    p->rc = lstat(p->path, &st);
    if (p->rc < 0)
        file_error(&p->e, errno);
    return false;
}

static bool remove_step(struct folder_job *job)
{
    struct path_job *p = CONTAINER_OF(job, struct path_job, job);
    p->rc = fs_remove_tree(p->path, &p->e);
    return false;
}

static void path_tell(struct folder_job *job, const struct err *why)
{
    struct path_job *p = CONTAINER_OF(job, struct path_job, job);
    p->cb(p->ctx, why ? why : p->rc < 0 ? &p->e : NULL);
}

static void path_destroy(struct folder_job *job)
{
    struct path_job *p = CONTAINER_OF(job, struct path_job, job);
    free(p->path);
    free(p);
}

static const struct job_kind look_kind = {look_step, path_tell, path_destroy, .is_own = true};
static const struct job_kind remove_kind = {remove_step, path_tell, path_destroy, .is_own = true};

static struct folder_job *path_job(const struct job_kind *kind, const char *path, files_done cb,
                                   void *ctx)
{
    struct path_job *p = xcalloc(1, sizeof *p);
    *p = (struct path_job){.job.kind = kind, .path = xstrdup(path), .cb = cb, .ctx = ctx};
    return &p->job;
}

void files_look(struct files *f, const char *share, const char *path, files_done cb, void *ctx)
{
    job_begin(f, share, path_job(&look_kind, path, cb, ctx));
}

void files_remove_tree(struct files *f, const char *share, const char *path, files_done cb,
                       void *ctx)
{
    job_begin(f, share, path_job(&remove_kind, path, cb, ctx));
}
