/* SPDX-License-Identifier: MIT
 *
 * Sends the bytes of a file in an output directory, without a download link: from the share, or
 * from the disk of the node. In the second case the reply waits for the node's answers.
 */
#include <string.h>

#include "api/arm/batchai/file_list.h"
#include "api/plane/storage/tiers.h"
#include "lib/fs.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/run/runs.h"

struct sending {
    struct job_bytes what;
    int64_t job_id;
    const struct mount_volume *volume; /* of the share */
    const char *path;                  /* path of the file in the share */
};

/* Requests the file from the node that has it. 0: request_finish() will be called; -1: err. */
static int send_from_node(struct request *r, const struct sending *s, struct err *e)
{
    struct output_dir *at;
    const char *path;
    size_t n;
    if (runs_output_dirs(s->what.of.runs, &r->arena, RES_JOB, s->job_id, s->what.id, &at, &n, e) <
        0)
        return err_prefix(e, "The file cannot be read");
    const struct output_dir *node = node_files_choose(at, n, s->what.path, &path);
    if (!node)
        return err_set(e, ERR_FILE_NOT_FOUND, s->what.names->directory,
                       "The file '%.200s' cannot be read: its node has left the cluster.",
                       s->what.path);
    const struct node_file file = {s->what.of.fleet, node, path, s->what.type};
    return send_node_file(r, &file, e);
}

/* Whether the file must be read from a node: a machine may have mounted another storage than the
 * daemon's as this share. */
static bool is_elsewhere(struct request *r, const struct sending *s)
{
    struct output_dir *at;
    struct err e;
    size_t n;
    return runs_output_dirs(s->what.of.runs, &r->arena, RES_JOB, s->job_id, s->what.id, &at, &n,
                            &e) == 0 &&
           n > 0 && !at[0].is_local;
}

static int look(struct request *r, void *ctx, const struct file_facts *facts, const char **type,
                struct err *e)
{
    const struct sending *s = ctx;
    if (!facts)
        return is_elsewhere(r, s) ? LOOK_AGAIN : 0;
    if (tier_check_file(r, s->volume, s->path, facts, e) < 0)
        return -1;
    *type = s->what.type;
    reply_file_state(r, facts->mtime_us);
    return 0;
}

static void look_on_node(struct request *r, void *ctx)
{
    struct err e;
    if (send_from_node(r, ctx, &e) < 0)
        request_finish(r, reply_err(r, &e));
}

static struct replied *send_from_share(struct request *r, struct sending *s,
                                       const struct output_place *place)
{
    const struct output_source *of = &s->what.of;
    const char *slash = *place->base ? "/" : "";
    s->volume = place->volume;
    s->path = arena_concat(&r->arena, place->base, slash, s->what.path);
    const struct file_reply what = {.folder =
                                        fleet_share_path(of->storage_dir, &r->arena, place->volume),
                                    .path = s->path,
                                    .range = range_header(r),
                                    .look = look,
                                    .again = look_on_node,
                                    .ctx = s,
                                    .missing = ERR_FILE_NOT_FOUND};
    return reply_file(r, of->files, &what);
}

struct replied *job_bytes_send(struct request *r, const struct job *j, const struct job_bytes *what)
{
    struct output_place place;
    struct err e;
    struct sending *s = arena_alloc(&r->arena, sizeof *s);
    *s = (struct sending){.what = *what, .job_id = j->id};
    if (!fs_path_is_safe(what->path) || !*what->path || strcmp(what->path, ".") == 0) {
        err_set(&e, ERR_INVALID_PATH, what->names->directory,
                "The path '%.200s' is not allowed: it must be the relative path of a file inside "
                "the output directory, without '..'.",
                what->path);
        return reply_err(r, &e);
    }
    if (output_find(r, j, what->id, what->names, &place, &e) < 0)
        return reply_err(r, &e);
    if (place.volume)
        return send_from_share(r, s, &place);
    return send_from_node(r, s, &e) < 0 ? reply_err(r, &e) : reply_later(r);
}
