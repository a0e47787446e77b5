/* SPDX-License-Identifier: MIT
 *
 * listOutputFiles: from an output directory's id to the folder of the share it lies on, listed on
 * the thread pool. Nothing outside that folder can be named: `directory` must be a plain relative
 * path, and opening follows no link that leaves the share.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/batchai/handlers.h"
#include "api/lookup.h"
#include "api/paging.h"
#include "api/storage/link.h"
#include "lib/fs.h"
#include "model/spec.h"
#include "scheduler/scheduler.h"
#include "storage/storage.h"

#define US_PER_MINUTE 60000000LL
#define EXPIRY_MIN    5
#define EXPIRY_MAX    600
#define EXPIRY_USUAL  60
/* A directory with more entries than this is cut: sorting and rendering it would hold the loop. */
#define ENTRIES_MAX 100000

struct entry {
    char *name; /* owned */
    bool is_dir;
    int64_t size, mtime_us;
};

struct listing {
    uv_work_t work;
    struct request *r;
    struct page page;
    long expiry_minutes;
    struct file_ref dir;   /* path: the directory, below the share */
    const char *root;      /* the share's folder */
    const char *directory; /* as asked */
    bool shows_directories;
    bool is_base;          /* the output directory itself: may not be there yet */
    struct entry *entries; /* owned */
    size_t n;
    size_t left_out; /* how many more there are that cannot be listed */
    int error;       /* errno */
};

static bool is_utf8(const char *s)
{
    json_t *text = json_string(s);
    json_decref(text);
    return text != NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* What a link leads to, if that is inside the share. */
static int stat_link(const struct listing *l, const char *name, struct stat *st)
{
    char *path = *l->dir.path ? fs_join(l->dir.path, name) : xstrdup(name); /* the share itself */
    int fd = fs_open_beneath(l->root, path, O_PATH);
    int rc = fd < 0 ? -1 : fstat(fd, st);
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

/* Whether an entry is listed. A link to a directory is not, as it could make a client's walk
 * endless. */
static bool may_list(const struct listing *l, const char *name, struct stat *st)
{
    if (!is_utf8(name))
        return false;
    if (S_ISLNK(st->st_mode))
        return stat_link(l, name, st) == 0 && S_ISREG(st->st_mode);
    return S_ISREG(st->st_mode) || (S_ISDIR(st->st_mode) && l->shows_directories);
}

static void add_entry(struct listing *l, int dirfd, const char *name)
{
    struct stat st;
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* it has just been removed */
    if (!may_list(l, name, &st)) {
        l->left_out++;
        return;
    }
    if ((l->n & (l->n - 1)) == 0)
        l->entries = xrealloc(l->entries, (l->n ? l->n * 2 : 1) * sizeof *l->entries);
    l->entries[l->n++] = (struct entry){.name = xstrdup(name),
                                        .is_dir = S_ISDIR(st.st_mode),
                                        .size = st.st_size,
                                        .mtime_us = (int64_t)st.st_mtim.tv_sec * 1000000};
}

static void read_directory(uv_work_t *w)
{
    struct listing *l = w->data;
    int fd = fs_open_beneath(l->root, l->dir.path, O_RDONLY | O_DIRECTORY);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        l->error = errno;
        if (fd >= 0)
            close(fd);
        return;
    }
    struct dirent *de;
    while ((de = readdir(d)) && l->n < ENTRIES_MAX)
        if (strcmp(de->d_name, ".") != 0 && strcmp(de->d_name, "..") != 0)
            add_entry(l, fd, de->d_name);
    closedir(d);
    if (l->n > 1)
        qsort(l->entries, l->n, sizeof *l->entries, by_name);
}

/* A file of every version; schema_file says which shows what. */
static json_t *canonical_entry(struct listing *l, const struct entry *en)
{
    json_t *o = json_pack("{s:o, s:s, s:b}", "name", json_string(en->name), "fileType",
                          en->is_dir ? "directory" : "file", "isDirectory", en->is_dir);
    if (!o || en->is_dir)
        return o;
    struct request *r = l->r;
    char when[TIMEFMT_SIZE];
    timefmt_seconds(en->mtime_us, when);
    struct file_ref f = l->dir;
    f.path = *f.path ? arena_printf(&r->arena, "%s/%s", f.path, en->name) : en->name;
    json_object_set_new(
        o, "downloadUrl",
        json_string(link_create(r, &f, r->now_us + l->expiry_minutes * US_PER_MINUTE)));
    json_object_set_new(
        o, "properties",
        json_pack("{s:s, s:I}", "lastModified", when, "contentLength", (json_int_t)en->size));
    return o;
}

static json_t *render_entry(struct listing *l, const struct entry *en)
{
    json_t *o = canonical_entry(l, en);
    json_t *out = o ? schema_render(&schema_file, l->r->version, o) : NULL;
    json_decref(o);
    return out;
}

static struct replied *reply_entries(struct listing *l)
{
    if (l->left_out > 0)
        LOG_DEBUG(l->r->config->log, "listing.incomplete", LF_STR("share", l->dir.share),
                  LF_STR("directory", l->dir.path), LF_INT("listed", l->n),
                  LF_INT("left_out", l->left_out));
    /* The id of an entry is its place, from 1 on. */
    for (size_t i = (size_t)l->page.after; i < l->n && !l->page.more; i++)
        page_add(&l->page, (int64_t)i + 1, render_entry(l, &l->entries[i]));
    return page_reply(l->r, &l->page);
}

static struct replied *answer(struct listing *l)
{
    struct err e;
    if (!l->error)
        return reply_entries(l);
    if (l->error == ENOENT && l->is_base)
        return reply_entries(l); /* the job has not started: nothing is there yet */
    err_set(&e, l->error == ENOENT ? ERR_FILE_NOT_FOUND : ERR_INVALID_QUERY, "directory",
            "The directory '%.200s' cannot be listed: %s.", l->directory, share_error(l->error));
    return reply_err(l->r, &e);
}

static void on_read(uv_work_t *w, int status)
{
    (void)status;
    struct listing *l = w->data;
    request_finish(l->r, answer(l));
    for (size_t i = 0; i < l->n; i++)
        free(l->entries[i].name);
    free(l->entries);
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

static int locate(struct listing *l, const struct job *j, const char *id, struct err *e)
{
    struct request *r = l->r;
    struct job_spec spec;
    const char *prefix = NULL, *below = "", *rest = "";
    if (job_spec_decode(&r->arena, j, NULL, &spec, e) < 0 ||
        directory_of(r, &spec, id, &prefix, &below, e) < 0)
        return -1;
    const struct mount_volume *v =
        mount_resolve(&r->arena, &spec.cluster_mounts, &spec.mounts, prefix, &rest);
    if (!v || (v->kind != MOUNT_AZURE_FILE_SHARE && v->kind != MOUNT_AZURE_BLOB))
        return err_set(e, ERR_NOT_ON_MOUNT_ROOT, "outputdirectoryid",
                       "The specified outputDirectoryId %.100s is not present on a mount root: "
                       "its path '%.300s' is on none of the file shares and containers that the "
                       "job or its cluster mounts.",
                       id, prefix);
    l->root = sched_share_path(r->config->storage_dir, &r->arena, v);
    const char *parts[] = {rest, below, l->is_base ? "" : l->directory};
    l->dir = (struct file_ref){v->kind, v->account, v->share,
                               join_path(&r->arena, parts, sizeof parts / sizeof parts[0])};
    return 0;
}

static int parse(struct listing *l, const char **id, struct err *e)
{
    struct request *r = l->r;
    *id = request_query(r, "outputdirectoryid");
    if (!*id || !**id)
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
    const char *id;
    struct listing *l = xcalloc(1, sizeof *l);
    l->work.data = l;
    l->r = r;
    if (find_job(r, &j, &e) < 0 || parse(l, &id, &e) < 0 || locate(l, &j, id, &e) < 0) {
        free(l);
        return reply_err(r, &e);
    }
    uv_queue_work(r->config->loop, &l->work, read_directory, on_read);
    return reply_later(r);
}
