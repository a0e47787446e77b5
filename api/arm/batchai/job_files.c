/* SPDX-License-Identifier: MIT
 *
 * listOutputFiles: finds the folder on a share for the id of an output directory, and lets threads
 * (storage/folders/) list it. Output that is not on a share is listed on the job's nodes
 * (node_files.c). A request cannot read outside of the output directory's share: `directory` must
 * be a plain relative path, and links that leave the share are not followed.
 */
#include <string.h>

#include "api/arm/batchai/batchai.h"
#include "api/arm/batchai/file_list.h"
#include "api/arm/batchai/lookup.h"
#include "api/arm/batchai/routes.h"
#include "api/arm/kind.h"
#include "lib/fs.h"
#include "model/run_output.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/front/batchai/batchai.h"
#include "scheduler/run/runs.h"
#include "storage/folders/files.h"

#define EXPIRY_MIN   5
#define EXPIRY_MAX   600
#define EXPIRY_USUAL 60
/* Longer lists are cut, because sorting and writing them would block the loop. */
#define ENTRIES_MAX 100000

/* A directory of a share. */
struct job_share_list {
    struct file_list *list;
    struct job job;
};

static void take_entries(struct file_list *list, struct file_entries *found)
{
    list->entry = found->entry;
    list->n = found->n;
    if (list->left_out)
        *list->left_out = found->left_out;
    if (found->left_out > 0)
        LOG_DEBUG(list->r->config->log, "listing.truncated", LF_STR("share", list->dir.scope[1]),
                  LF_STR("directory", list->dir.path), LF_INT("listed", list->n),
                  LF_INT("left_out", found->left_out));
    *found = (struct file_entries){0};
}

static struct replied *refuse(const struct file_list *list, const struct err *why)
{
    struct err e;
    enum err_code code = why->code == ERR_IO ? ERR_INVALID_QUERY : why->code;
    err_set(&e, code, list->names->directory, "The directory '%.200s' cannot be listed: %s.",
            list->directory, why->msg);
    return reply_err(list->r, &e);
}

/* Whether the files must be listed on nodes. A job creates its directory on the share when it
 * starts; if the daemon's folder lacks the directory, the machine has mounted another storage as
 * this share. */
static bool is_elsewhere(const struct job_share_list *l)
{
    struct request *r = l->list->r;
    struct output_dir *at;
    struct err e;
    size_t n;
    return runs_output_dirs(l->list->of.runs, &r->arena, RES_JOB, l->job.id, l->list->id, &at, &n,
                            &e) == 0 &&
           n > 0 && !at[0].is_local;
}

/* If the output directory itself is missing, the job has not started: the list is empty. */
static void on_listed(void *ctx, const struct err *why, struct file_entries *found,
                      bool base_is_missing)
{
    struct job_share_list *l = ctx;
    struct file_list *list = l->list;
    struct request *r = list->r;
    if (base_is_missing && is_elsewhere(l)) {
        node_files_finish(list, &l->job);
    } else if (why && !(why->code == ERR_FILE_NOT_FOUND && list->is_base)) {
        request_finish(r, refuse(list, why));
    } else {
        if (!why)
            take_entries(list, found);
        request_finish(r, file_list_reply(list));
    }
}

/* Joins the non-empty parts with slashes; "" is the share itself. */
static const char *join_path(struct arena *a, const char *const *parts, size_t n)
{
    const char *path = "";
    for (size_t i = 0; i < n; i++)
        if (*parts[i])
            path = arena_printf(a, "%s%s%s", path, *path ? "/" : "", parts[i]);
    return path;
}

int output_find(struct request *r, const struct job *j, const char *id,
                const struct output_names *names, struct output_place *out, struct err *e)
{
    struct run_spec spec;
    struct run_output found;
    const char *rest = "";
    if (job_spec_decode(&r->arena, j, NULL, &spec, e) < 0)
        return -1;
    if (!run_output_find(&r->arena, &spec, id, &found))
        return err_set(e, ERR_OUTPUT_DIRECTORY_NOT_FOUND, names->id,
                       "The job has no output directory with id '%.100s'; use 'stdouterr' or the "
                       "id of one of its outputDirectories.",
                       id);
    const struct mount_volume *v = mount_resolve(&r->arena, &batchai_front_words, &spec.pool_mounts,
                                                 &spec.mounts, found.prefix, &rest);
    bool is_share = v && (v->kind == MOUNT_FILE_SHARE || v->kind == MOUNT_BLOBS);
    const char *parts[] = {rest, found.below};
    *out = (struct output_place){.id = id,
                                 .prefix = found.prefix,
                                 .volume = is_share ? v : NULL,
                                 .base = join_path(&r->arena, parts, 2)};
    return 0;
}

/* Lists output that is not on a share but on the nodes' disks. */
static struct replied *list_on_nodes(struct file_list *l, const struct job *j)
{
    struct err e, why;
    struct replied *done;
    if (node_files_list(l, j, &done, &why) == 0)
        return done;
    e = why;
    if (why.code == ERR_NOT_ON_MOUNT_ROOT)
        err_set(&e, ERR_NOT_ON_MOUNT_ROOT, l->names->id,
                "The specified outputDirectoryId %.100s is not present on a mount root: its path "
                "'%.300s' is on none of the file shares and containers that the job or its cluster "
                "mounts, and %s.",
                l->id, l->prefix, why.msg);
    return reply_err(l->r, &e);
}

static struct replied *list_on_share(struct file_list *l, const struct job *j,
                                     const struct mount_volume *v, const char *base)
{
    struct request *r = l->r;
    const char *parts[] = {base, l->is_base ? "" : l->directory};
    l->dir = (struct file_ref){v->kind == MOUNT_BLOBS ? LINK_BLOB : LINK_FILE,
                               {v->account, v->share},
                               join_path(&r->arena, parts, 2)};
    struct job_share_list *sl = arena_alloc(&r->arena, sizeof *sl);
    *sl = (struct job_share_list){.list = l, .job = *j};
    const struct files_list what = {
        .at = {fleet_share_path(l->of.storage_dir, &r->arena, v), l->dir.path},
        .base = base,
        .max = ENTRIES_MAX,
        .files_only = !l->shows_directories};
    files_list(l->of.files, &what, on_listed, sl);
    return reply_later(r);
}

struct replied *job_files_list(struct file_list *l, const struct job *j)
{
    struct output_place place = {0};
    struct err e;
    if (output_find(l->r, j, l->id, l->names, &place, &e) < 0)
        return reply_err(l->r, &e);
    l->prefix = place.prefix;
    return place.volume ? list_on_share(l, j, place.volume, place.base) : list_on_nodes(l, j);
}

int file_list_set_directory(struct file_list *l, const char *directory, struct err *e)
{
    char *clean = arena_strdup(&l->r->arena, directory ? directory : ".");
    while (strncmp(clean, "./", 2) == 0)
        clean += 2;
    for (size_t n = strlen(clean); n > 1 && clean[n - 1] == '/'; n--)
        clean[n - 1] = '\0';
    l->directory = clean;
    l->is_base = strcmp(clean, ".") == 0 || strcmp(clean, "") == 0;
    if (fs_path_is_safe(clean))
        return 0;
    return err_set(e, ERR_INVALID_PATH, l->names->directory,
                   "The directory '%.200s' is not allowed: it must be a relative path inside the "
                   "output directory, without '..'.",
                   directory);
}

static int parse(struct file_list *l, struct err *e)
{
    struct request *r = l->r;
    l->id = request_query(r, "outputdirectoryid");
    if (!l->id || !*l->id)
        return err_set(e, ERR_INVALID_QUERY, "outputdirectoryid",
                       "The query parameter outputdirectoryid is required: 'stdouterr' or the id "
                       "of one of the job's outputDirectories.");
    if (request_query_int(r, "linkexpiryinminutes",
                          (struct query_bounds){EXPIRY_MIN, EXPIRY_MAX, EXPIRY_USUAL},
                          &l->expiry_minutes, e) < 0 ||
        !(l->page = page_of_ids(r, e)))
        return -1;
    /* The version of 2017 lists only files: its replies cannot mark directories, and its requests
     * cannot name one. */
    l->shows_directories = r->version != V_2017_09_01_PREVIEW;
    l->hides_log = !l->shows_directories && strcasecmp(l->id, "stdouterr") == 0;
    return file_list_set_directory(l, l->shows_directories ? request_query(r, "directory") : NULL,
                                   e);
}

struct replied *jobs_list_output_files(struct request *r)
{
    struct err e;
    struct job j;
    if (find_job(r, &j, &e) < 0)
        return reply_err(r, &e);
    static const struct output_names names = {"outputdirectoryid", "directory"};
    const struct batchai *b = batchai_of(r);
    struct file_list *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct file_list){
        .r = r, .of = {b->arm.runs, b->arm.fleet, b->files, b->storage_dir}, .names = &names};
    request_keep(r, l, file_list_release);
    if (parse(l, &e) < 0)
        return reply_err(r, &e);
    return job_files_list(l, &j);
}
