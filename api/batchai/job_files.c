/* SPDX-License-Identifier: MIT
 *
 * listOutputFiles: from an output directory's id to the folder of the share it lies on, listed on
 * the thread pool; output that is on no share is looked for on the job's nodes (node_files.c).
 * Nothing outside the output directory's share can be named: `directory` must be a plain relative
 * path, and opening follows no link that leaves the share.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/batchai/file_list.h"
#include "api/batchai/handlers.h"
#include "api/lookup.h"
#include "lib/fs.h"
#include "model/spec.h"
#include "scheduler/scheduler.h"

#define EXPIRY_MIN   5
#define EXPIRY_MAX   600
#define EXPIRY_USUAL 60
/* A directory with more entries than this is cut: sorting and rendering it would hold the loop. */
#define ENTRIES_MAX 100000

/* A directory of a share. */
struct share_list {
    uv_work_t work;
    struct file_list *list;
    struct job job;
    const char *root; /* the share's folder */
    const char *base; /* the output directory, below it */
    size_t left_out;  /* how many more entries there are that cannot be listed */
    int error;        /* errno */
    bool no_base;     /* not even the output directory is there */
};

static bool is_utf8(const char *s)
{
    json_t *text = json_string(s);
    json_decref(text);
    return text != NULL;
}

/* What a link leads to, if that is inside the share. */
static int stat_link(const struct share_list *l, const char *name, struct stat *st)
{
    const char *dir = l->list->dir.path;
    char *path = *dir ? fs_join(dir, name) : xstrdup(name); /* the share itself */
    int fd = fs_open_beneath(l->root, path, O_PATH);
    int rc = fd < 0 ? -1 : fstat(fd, st);
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

/* Whether an entry is listed. A link to a directory is not, as it could make a client's walk
 * endless. */
static bool may_list(const struct share_list *l, const char *name, struct stat *st)
{
    if (!is_utf8(name))
        return false;
    if (S_ISLNK(st->st_mode))
        return stat_link(l, name, st) == 0 && S_ISREG(st->st_mode);
    return S_ISREG(st->st_mode) || (S_ISDIR(st->st_mode) && l->list->shows_directories);
}

static void add_entry(struct share_list *l, int dirfd, const char *name)
{
    struct stat st;
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* it has just been removed */
    if (!may_list(l, name, &st))
        l->left_out++;
    else
        file_list_add(l->list, name, S_ISDIR(st.st_mode), st.st_size,
                      (int64_t)st.st_mtim.tv_sec * 1000000);
}

static bool is_missing(const struct share_list *l, const char *path)
{
    int fd = fs_open_beneath(l->root, path, O_PATH);
    if (fd >= 0)
        close(fd);
    return fd < 0 && errno == ENOENT;
}

static void read_directory(uv_work_t *w)
{
    struct share_list *l = w->data;
    int fd = fs_open_beneath(l->root, l->list->dir.path, O_RDONLY | O_DIRECTORY);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        l->error = errno;
        l->no_base = l->error == ENOENT && is_missing(l, l->base);
        if (fd >= 0)
            close(fd);
        return;
    }
    struct dirent *de;
    while ((de = readdir(d)) && l->list->n < ENTRIES_MAX)
        if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
            add_entry(l, fd, de->d_name);
    closedir(d);
}

static struct replied *answer(struct share_list *l)
{
    struct file_list *list = l->list;
    struct err e;
    if (l->left_out > 0)
        LOG_DEBUG(list->r->config->log, "listing.incomplete", LF_STR("share", list->dir.scope[1]),
                  LF_STR("directory", list->dir.path), LF_INT("listed", list->n),
                  LF_INT("left_out", l->left_out));
    /* No base: the job has not started, and nothing is there yet. */
    if (!l->error || (l->error == ENOENT && list->is_base))
        return file_list_reply(list);
    err_set(&e, l->error == ENOENT ? ERR_FILE_NOT_FOUND : ERR_INVALID_QUERY, "directory",
            "The directory '%.200s' cannot be listed: %s.", list->directory, share_error(l->error));
    return file_list_refuse(list, &e);
}

/* The job's directory is made on the share when it starts. If it is not in our folder, what a
 * machine has mounted as this share is not our folder. */
static bool is_elsewhere(const struct share_list *l)
{
    struct request *r = l->list->r;
    struct output_place *at;
    struct err e;
    size_t n;
    return l->no_base &&
           sched_output_places(r->config->sched, &r->arena, &l->job, l->list->id, &at, &n, &e) ==
               0 &&
           n > 0 && !at[0].is_local;
}

static void on_read(uv_work_t *w, int status)
{
    (void)status;
    struct share_list *l = w->data;
    struct request *r = l->list->r;
    if (is_elsewhere(l))
        node_files_finish(l->list, &l->job);
    else
        request_finish(r, answer(l));
    free(l);
}

/* The path prefix of an output directory id and what follows it. */
static int directory_of(struct request *r, const struct job_spec *s, const char *id,
                        const char **prefix, const char **below, struct err *e)
{
    if (strcasecmp(id, "stdouterr") == 0) {
        *prefix = s->std_prefix;
        *below = arena_printf(&r->arena, "%s/stdouterr", s->segment);
        return 0;
    }
    for (size_t i = 0; i < s->n_outputs; i++) {
        const struct directory_spec *d = &s->outputs[i];
        if (strcmp(d->id, id) != 0)
            continue;
        const char *suffix = d->suffix ? d->suffix : "";
        *prefix = d->path;
        *below = d->as_is ? suffix
                          : arena_printf(&r->arena, "%s/outputs%s%s", s->segment,
                                         *suffix ? "/" : "", suffix);
        return 0;
    }
    return err_set(e, ERR_OUTPUT_DIRECTORY_NOT_FOUND, "outputdirectoryid",
                   "The job has no output directory with id '%.100s'; use 'stdouterr' or the id of "
                   "one of its outputDirectories.",
                   id);
}

/* The parts that are not empty, with slashes between them; "" is the share itself. */
static const char *join_path(struct arena *a, const char *const *parts, size_t n)
{
    const char *path = "";
    for (size_t i = 0; i < n; i++)
        if (*parts[i])
            path = arena_printf(a, "%s%s%s", path, *path ? "/" : "", parts[i]);
    return path;
}

/* Not on a share: on the nodes. */
static struct replied *list_on_nodes(struct file_list *l, const struct job *j)
{
    struct err e, why;
    struct replied *done;
    if (node_files_list(l, j, &done, &why) == 0)
        return done;
    e = why;
    if (why.code == ERR_NOT_ON_MOUNT_ROOT)
        err_set(&e, ERR_NOT_ON_MOUNT_ROOT, "outputdirectoryid",
                "The specified outputDirectoryId %.100s is not present on a mount root: its path "
                "'%.300s' is on none of the file shares and containers that the job or its cluster "
                "mounts, and %s.",
                l->id, l->prefix, why.msg);
    return file_list_refuse(l, &e);
}

static struct replied *list_on_share(struct file_list *l, const struct job *j,
                                     const struct mount_volume *v, const char *base)
{
    struct request *r = l->r;
    const char *parts[] = {base, l->is_base ? "" : l->directory};
    l->dir = (struct file_ref){v->kind == MOUNT_AZURE_BLOB ? LINK_BLOB : LINK_FILE,
                               {v->account, v->share},
                               join_path(&r->arena, parts, 2)};
    struct share_list *sl = xcalloc(1, sizeof *sl);
    *sl = (struct share_list){.list = l,
                              .job = *j,
                              .root = sched_share_path(r->config->storage_dir, &r->arena, v),
                              .base = base};
    sl->work.data = sl;
    uv_queue_work(r->config->loop, &sl->work, read_directory, on_read);
    return reply_later(r);
}

static struct replied *list(struct file_list *l, const struct job *j)
{
    struct request *r = l->r;
    struct job_spec spec;
    struct err e;
    const char *below = "", *rest = "";
    if (job_spec_decode(&r->arena, j, NULL, &spec, &e) < 0 ||
        directory_of(r, &spec, l->id, &l->prefix, &below, &e) < 0)
        return file_list_refuse(l, &e);
    const struct mount_volume *v =
        mount_resolve(&r->arena, &spec.cluster_mounts, &spec.mounts, l->prefix, &rest);
    if (!v || (v->kind != MOUNT_AZURE_FILE_SHARE && v->kind != MOUNT_AZURE_BLOB))
        return list_on_nodes(l, j);
    const char *parts[] = {rest, below};
    return list_on_share(l, j, v, join_path(&r->arena, parts, 2));
}

static int parse(struct file_list *l, struct err *e)
{
    struct request *r = l->r;
    l->id = request_query(r, "outputdirectoryid");
    if (!l->id || !*l->id)
        return err_set(e, ERR_INVALID_QUERY, "outputdirectoryid",
                       "The query parameter outputdirectoryid is required: 'stdouterr' or the id "
                       "of one of the job's outputDirectories.");
    if (request_query_int(r, "linkexpiryinminutes", EXPIRY_MIN, EXPIRY_MAX, EXPIRY_USUAL,
                          &l->expiry_minutes, e) < 0 ||
        page_parse(r, &l->page, e) < 0)
        return -1;
    /* 2017 lists files only: it can neither say that an item is a directory nor ask for one. */
    l->shows_directories = r->version != V_2017_09_01_PREVIEW;
    const char *dir = l->shows_directories ? request_query(r, "directory") : NULL;
    char *clean = arena_strdup(&r->arena, dir ? dir : ".");
    while (strncmp(clean, "./", 2) == 0)
        clean += 2;
    for (size_t n = strlen(clean); n > 1 && clean[n - 1] == '/'; n--)
        clean[n - 1] = '\0';
    l->directory = clean;
    l->is_base = strcmp(clean, ".") == 0 || strcmp(clean, "") == 0;
    if (fs_path_is_safe(clean))
        return 0;
    return err_set(e, ERR_INVALID_PATH, "directory",
                   "The directory '%.200s' is not allowed: it must be a relative path inside the "
                   "output directory, without '..'.",
                   dir);
}

struct replied *jobs_list_output_files(struct request *r)
{
    struct err e;
    struct job j;
    if (find_job(r, &j, &e) < 0)
        return reply_err(r, &e);
    struct file_list *l = xcalloc(1, sizeof *l);
    l->r = r;
    if (parse(l, &e) < 0)
        return file_list_refuse(l, &e);
    return list(l, &j);
}
