/* SPDX-License-Identifier: MIT
 *
 * Requests about files and mounts.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base64.h"
#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/clean.h"
#include "nodeagent-proto/agent/files.h"
#include "nodeagent-proto/agent/leases.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/mounts.h"
#include "nodeagent-proto/agent/parts.h"
#include "nodeagent-proto/agent/share.h"
#include "nodeagent-proto/agent/unlinked.h"
#include "nodeagent-proto/agent/worker.h"
#include "nodeagent-proto/disk/listing.h"
#include "nodeagent-proto/wire/message.h"

/* How long a looked-up account stays valid: a directory service may be slow. */
#define ACCOUNT_MS 60000

/* The limit for a file system that does not answer. */
#define LOOK_LIMIT_S 30
/* The limit for opening a large share to all jobs for the first time. */
#define OPEN_LIMIT_S 600
/* The limit for several mounts that are all stuck. */
#define UNMOUNT_LIMIT_S 60

/* The account that the request is for; NULL: the agent's own. */
static int get_as(struct agent *a, json_t *req, const struct account **out, struct err *e)
{
    const char *name = json_string_value(json_object_get(req, "as"));
    int64_t now = monotonic_ms();
    *out = NULL;
    if (!name || !a->facts.node.is_root)
        return 0;
    if (!a->as.name || strcmp(a->as.name, name) != 0 || now >= a->as_until_ms) {
        struct account found;
        if (lease_or_account(a->root, name, &found, e) < 0)
            return -1;
        account_free(&a->as);
        a->as = found;
        a->as_until_ms = now + ACCOUNT_MS;
    }
    *out = &a->as;
    return 0;
}

static bool is_far(struct agent *a, const json_t *path)
{
    const char *text = json_string_value(path);
    return text && *text == '/' && mounts_may_hang(&a->mounts, a->root, text);
}

/* Done by the agent itself, or in a worker if the path may hang; later requests wait for it either
 * way. */
static enum outcome here_or_in_worker(struct agent *a, json_t *req, json_t *reply, serve_fn fn,
                                      struct err *e)
{
    json_t *paths = json_object_get(req, "paths"), *path;
    size_t i;
    bool far = is_far(a, json_object_get(req, "path")) || is_far(a, json_object_get(req, "source"));
    json_array_foreach(paths, i, path)
        far = far || is_far(a, path);
    return far ? worker_start_in_order(a, req, fn, LOOK_LIMIT_S) : fn(a, req, reply, e);
}

/* The agent's own files, which no request may take away or cover. */
static bool is_own(const struct agent *a, const char *path)
{
    size_t n = strlen(a->root);
    if (strncmp(path, a->root, n) != 0 || path[n] != '/')
        return false;
    return clean_is_own(path + n + 1, strcspn(path + n + 1, "/"));
}

static int refuse_own(const struct agent *a, const char *name, const char *path, struct err *e)
{
    if (!is_own(a, path))
        return 0;
    return err_set(e, ERR_INVALID_PATH, name, "%s belongs to the node agent and stays", path);
}

static enum outcome mount_folder(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *source, *target;
    (void)reply;
    if (get_path(req, "source", &source, e) < 0 || get_path(req, "target", &target, e) < 0 ||
        refuse_own(a, "target", target, e) < 0)
        return SERVE_FAILED;
    bool everybodys = json_is_true(json_object_get(req, "shared")) && a->facts.node.is_root;
    return outcome(file_link(a->root, source, target, everybodys, e));
}

enum outcome serve_mount_folder(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *source = json_string_value(json_object_get(req, "source"));
    if (source && a->facts.node.is_root && json_is_true(json_object_get(req, "shared")) &&
        !is_far(a, json_object_get(req, "source")) && !share_is_open(source))
        return worker_start_in_order(a, req, mount_folder, OPEN_LIMIT_S);
    return here_or_in_worker(a, req, reply, mount_folder, e);
}

/* A missing folder is no error here: whatever uses it will report it. */
static enum outcome open_folder(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *path;
    struct stat st;
    (void)reply;
    if (get_path(req, "path", &path, e) < 0)
        return SERVE_FAILED;
    if (!a->facts.node.is_root || stat(path, &st) < 0)
        return SERVE_DONE;
    return outcome(share_open(path, e));
}

enum outcome serve_open_folder(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *path = json_string_value(json_object_get(req, "path"));
    if (is_far(a, json_object_get(req, "path")))
        return SERVE_DONE; /* its own file system decides about access, and it may hang */
    if (path && !share_is_open(path))
        return worker_start_in_order(a, req, open_folder, OPEN_LIMIT_S);
    return open_folder(a, req, reply, e);
}

/* ---- remote commands ---- */

static int get_job(json_t *req, const char **out, struct err *e)
{
    if (get_text(req, "job", out, e) < 0)
        return -1;
    if (task_id_valid(*out) && **out != '.')
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "job", "'%.100s' cannot be a job's name", *out);
}

enum outcome serve_remote_open(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const struct account *as;
    const char *job;
    (void)reply;
    if (get_job(req, &job, e) < 0 || get_as(a, req, &as, e) < 0)
        return SERVE_FAILED;
    return outcome(remotes_open(a, job, as, e));
}

enum outcome serve_remote_close(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *job = NULL;
    (void)reply;
    if (json_object_get(req, "job") && get_job(req, &job, e) < 0)
        return SERVE_FAILED;
    remotes_close(a, job);
    return SERVE_DONE;
}

/* ---- mounts ---- */

static enum outcome unmount(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *target;
    (void)reply;
    if (get_path(req, "target", &target, e) < 0 || mounts_detach_within(a->root, target, e) < 0)
        return SERVE_FAILED;
    return outcome(file_unlink(a->root, target, e));
}

enum outcome serve_unmount(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *target;
    (void)reply;
    if (get_path(req, "target", &target, e) < 0 || refuse_own(a, "target", target, e) < 0 ||
        file_check_below(a->root, target, e) < 0)
        return SERVE_FAILED;
    if (mounts_concern(a->root, target))
        return worker_start(a, req, unmount, UNMOUNT_LIMIT_S);
    return outcome(file_unlink(a->root, target, e));
}

static enum outcome make_dirs(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    size_t i;
    json_t *v, *paths = json_object_get(req, "paths");
    const struct account *as;
    (void)reply;
    if (get_as(a, req, &as, e) < 0)
        return SERVE_FAILED;
    if (!json_is_array(paths)) {
        err_set(e, ERR_PROTOCOL, "paths", "the request has no list 'paths'");
        return SERVE_FAILED;
    }
    /* Jobs with accounts of their own make things beside each other on shares. */
    const char *name = json_string_value(json_object_get(req, "as"));
    bool open_to_all = as && name && *name == LEASE_SIGN;
    json_array_foreach(paths, i, v) {
        const char *path = json_string_value(v);
        if (!path || *path != '/') {
            err_set(e, ERR_INVALID_PATH, "paths",
                    "paths[%zu] '%s' is not an absolute path of the node", i, path ? path : "");
            return SERVE_FAILED;
        }
        mode_t mask = umask(0);
        (void)umask(open_to_all ? 0 : mask);
        int rc = file_make_dirs(a->root, as, path, e);
        (void)umask(mask);
        if (rc < 0)
            return SERVE_FAILED;
    }
    return SERVE_DONE;
}

enum outcome serve_make_dirs(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    return here_or_in_worker(a, req, reply, make_dirs, e);
}

enum outcome serve_remove_tree(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *path;
    (void)reply;
    if (get_path(req, "path", &path, e) < 0 || refuse_own(a, "path", path, e) < 0)
        return SERVE_FAILED;
    int rc = file_discard(a->root, path, a->trash_dir, &a->mounts, e);
    if (rc > 0)
        agent_empty_trash(a);
    return outcome(rc);
}

enum outcome serve_drop_unlinked(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    struct unlinked u = {.root = a->root, .trash = a->trash_dir, .mounts = &a->mounts};
    (void)reply;
    if (get_path(req, "dir", &u.dir, e) < 0 || get_path(req, "used", &u.used, e) < 0 ||
        get_path(req, "links", &u.links, e) < 0 || refuse_own(a, "dir", u.dir, e) < 0 ||
        file_check_below(a->root, u.dir, e) < 0 || file_check_below(a->root, u.links, e) < 0)
        return SERVE_FAILED;
    int rc = unlinked_discard(&u, e);
    if (rc > 0)
        agent_empty_trash(a);
    return outcome(rc);
}

/* The account that a file is written as, and our own umask. */
struct rights {
    const struct account *as; /* NULL: ourselves */
    mode_t mask;
};

static void resume(const struct rights *r)
{
    if (r->as)
        account_resume();
    (void)umask(r->mask);
}

/* Makes the parents and takes on the rights to write `path`; resume() afterwards. */
static int prepare_to_write(struct agent *a, json_t *req, const char *path, struct rights *r,
                            struct err *e)
{
    if (get_as(a, req, &r->as, e) < 0)
        return -1;
    r->mask = account_umask(r->as);
    int rc = r->as ? file_make_parents_as(a->root, r->as, path, e) : file_make_parents(path, e);
    if (rc == 0 && r->as)
        rc = account_assume(r->as, e);
    if (rc < 0)
        (void)umask(r->mask);
    return rc;
}

static enum outcome append(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *path, *text;
    struct rights as;
    (void)reply;
    if (get_path(req, "path", &path, e) < 0 || get_text(req, "text", &text, e) < 0 ||
        prepare_to_write(a, req, path, &as, e) < 0)
        return SERVE_FAILED;
    int rc = file_append(path, text, e);
    resume(&as);
    return outcome(rc);
}

enum outcome serve_append(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    return here_or_in_worker(a, req, reply, append, e);
}

static enum outcome write_file(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *path, *text;
    struct rights as;
    int mode;
    (void)reply;
    if (get_path(req, "path", &path, e) < 0 || get_text(req, "text", &text, e) < 0 ||
        get_int(req, "mode", &mode, e) < 0)
        return SERVE_FAILED;
    if (mode < 0 || mode > 07777) {
        err_set(e, ERR_INVALID_PROPERTY, "mode", "mode 0%o is not one of 0 to 07777", mode);
        return SERVE_FAILED;
    }
    if (prepare_to_write(a, req, path, &as, e) < 0)
        return SERVE_FAILED;
    int rc = file_replace(path, text, strlen(text), (mode_t)mode, e);
    resume(&as);
    return outcome(rc);
}

enum outcome serve_write_file(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    return here_or_in_worker(a, req, reply, write_file, e);
}

/* ---- files in parts, and archives ---- */

#define UNPACK_LIMIT_S 3600

static int get_mode(json_t *req, mode_t *out, struct err *e)
{
    int mode;
    if (get_int(req, "mode", &mode, e) < 0)
        return -1;
    if (mode < 0 || mode > 07777)
        return err_set(e, ERR_INVALID_PROPERTY, "mode", "mode 0%o is not one of 0 to 07777", mode);
    *out = (mode_t)mode;
    return 0;
}

static enum outcome write_bytes(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    struct file_piece piece = {.last = json_is_true(json_object_get(req, "last"))};
    const char *path, *text;
    struct rights as;
    char *bytes;
    (void)reply;
    if (get_path(req, "path", &path, e) < 0 || get_text(req, "bytes", &text, e) < 0 ||
        get_int64(req, "offset", &piece.offset, e) < 0 || get_mode(req, &piece.mode, e) < 0)
        return SERVE_FAILED;
    if (piece.offset < 0 || base64_decode(text, strlen(text), &bytes, &piece.n) < 0) {
        err_set(e, ERR_INVALID_PROPERTY, "bytes", "the bytes are not base64, or begin before 0");
        return SERVE_FAILED;
    }
    piece.bytes = bytes;
    int rc = prepare_to_write(a, req, path, &as, e);
    if (rc == 0) {
        rc = file_write_piece(path, &piece, e);
        resume(&as);
    }
    free(bytes);
    return outcome(rc);
}

enum outcome serve_write_bytes(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    return here_or_in_worker(a, req, reply, write_bytes, e);
}

static enum outcome unpack(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *path, *target;
    (void)a;
    (void)reply;
    if (get_path(req, "path", &path, e) < 0 || get_path(req, "target", &target, e) < 0)
        return SERVE_FAILED;
    return outcome(archive_unpack(path, target, e));
}

/* Without `path`: is it there? */
enum outcome serve_unpack(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    const char *path = json_string_value(json_object_get(req, "path")), *target;
    struct stat st;
    (void)reply;
    if (get_path(req, "target", &target, e) < 0 || refuse_own(a, "target", target, e) < 0 ||
        file_check_below(a->root, target, e) < 0 ||
        (path && file_check_below(a->root, path, e) < 0))
        return SERVE_FAILED;
    if (path)
        return worker_start(a, req, unpack, UNPACK_LIMIT_S);
    if (stat(target, &st) == 0 && S_ISDIR(st.st_mode))
        return SERVE_DONE;
    err_set(e, ERR_FILE_NOT_FOUND, "target", "%s is not there", target);
    return SERVE_FAILED;
}

/* ---- looking at files: in a worker ---- */

/* With the longest names, all of them escaped, this many fit a frame. */
#define ENTRIES_PER_REPLY 2000
#define READ_MAX          (1024 * 1024)
#define JOBS_DIR          "/jobs/"

/* The place that is looked at, and the account (NULL: our own). */
struct look {
    const struct account *as;
    const char *base, *path;
};

static void send_part(struct agent *a, json_t *reply, json_t *entries)
{
    json_t *part = json_copy(reply);
    json_object_set_new(part, "entries", json_copy(entries));
    json_object_set_new(part, "more", json_true());
    agent_send(a, part);
    json_array_clear(entries);
}

/* The path of `base` relative to the directory of the job called `name`; NULL: it is not in it. */
static const char *within_job(const struct agent *a, const char *name, const char *base)
{
    size_t root = strlen(a->root), n = strlen(JOBS_DIR), m = strlen(name);
    if (strncmp(base, a->root, root) != 0 || strncmp(base + root, JOBS_DIR, n) != 0)
        return NULL;
    base += root + n;
    return strncmp(base, name, m) == 0 && (base[m] == '/' || base[m] == '\0')
               ? base + m + (base[m] == '/')
               : NULL;
}

/* For a job whose account was released. The files left in its directory are ours, so they are
 * opened from there, and no link of the job's leads out of it. Everything else is opened without
 * rights. */
static void look_as_nobody(struct agent *a, struct look *l, const char *name)
{
    const char *rest = within_job(a, name, l->base);
    if (!rest) {
        account_free(&a->as);
        lease_nobody(a->root, &a->as);
        l->as = &a->as;
        return;
    }
    struct strbuf base = STRBUF_INIT, path = STRBUF_INIT;
    strbuf_printf(&base, "%s" JOBS_DIR "%s", a->root, name);
    strbuf_printf(&path, "%s%s%s", rest, *rest && *l->path ? "/" : "", l->path);
    l->as = NULL;
    l->base = strbuf_take(&base);
    l->path = strbuf_take(&path);
}

/* While the account is released, the files in the job's directory become ours, and the directory
 * first.
 */
static bool is_handed_over(const struct agent *a, const char *name)
{
    struct stat st;
    struct strbuf dir = STRBUF_INIT;
    strbuf_printf(&dir, "%s" JOBS_DIR "%s", a->root, name);
    bool ours = stat(dir.s, &st) == 0 && st.st_uid == geteuid();
    strbuf_free(&dir);
    return ours;
}

/* Takes on the rights for the rest of this process. FUSE checks the real ids too, so these change
 * as well; then nobody may look into our memory, which holds requests of others. */
static int begin_look(struct agent *a, json_t *req, struct look *l, struct err *e)
{
    const char *name = json_string_value(json_object_get(req, "as"));
    if (get_path(req, "base", &l->base, e) < 0 || get_text(req, "path", &l->path, e) < 0)
        return -1;
    l->as = NULL;
    bool leased = name && *name == LEASE_SIGN && a->facts.node.is_root;
    bool taken = leased && lease_is_taken(a->root, name + 1);
    if ((!leased || taken) && get_as(a, req, &l->as, e) < 0) {
        if (!leased || lease_is_taken(a->root, name + 1))
            return -1;
        taken = false; /* it was released in between */
    }
    /* A job from before accounts may be ours, and its directory always was. */
    bool handed_over = taken && l->as && l->as->uid != geteuid() && is_handed_over(a, name + 1);
    if (leased && (!taken || handed_over))
        look_as_nobody(a, l, name + 1);
    if (!l->as)
        return 0;
    int rc = account_become(l->as, e);
    prctl(PR_SET_DUMPABLE, 0);
    return rc;
}

static enum outcome list_dir(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    struct look look;
    struct disk_listing l;
    if (begin_look(a, req, &look, e) < 0 || disk_list(look.base, look.path, &l, e) < 0)
        return SERVE_FAILED;
    json_t *entries = json_array();
    for (size_t i = 0; i < l.n; i++) {
        if (json_array_size(entries) == ENTRIES_PER_REPLY)
            send_part(a, reply, entries);
        json_array_append_new(entries, message_dir_entry(&l.entries[i]));
    }
    json_object_set_new(reply, "entries", entries);
    disk_list_free(&l);
    return SERVE_DONE;
}

enum outcome serve_list_dir(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    (void)reply;
    (void)e;
    return worker_start(a, req, list_dir, LOOK_LIMIT_S);
}

static enum outcome read_file(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    struct look look;
    int64_t offset, max;
    struct file_part part;
    if (get_int64(req, "offset", &offset, e) < 0 || get_int64(req, "max", &max, e) < 0)
        return SERVE_FAILED;
    if (offset < 0 || max < 0 || max > READ_MAX) {
        err_set(e, ERR_INVALID_PROPERTY, "offset",
                "%lld bytes from %lld on cannot be read: 0 to %d bytes can, from 0 on",
                (long long)max, (long long)offset, READ_MAX);
        return SERVE_FAILED;
    }
    if (begin_look(a, req, &look, e) < 0)
        return SERVE_FAILED;
    if (disk_read_file(look.base, look.path, offset, (size_t)max, &part, e) < 0) {
        free(part.bytes);
        return SERVE_FAILED;
    }
    json_object_set_new(reply, "size", json_integer(part.size));
    json_object_set_new(reply, "mtime_us", json_integer(part.mtime_us));
    if (json_is_true(json_object_get(req, "raw"))) {
        agent_send_with(a, json_incref(reply), part.bytes, part.n);
    } else {
        char *text = base64_encode(part.bytes, part.n);
        json_object_set_new(reply, "bytes", json_string(text));
        agent_send(a, json_incref(reply));
        free(text);
    }
    free(part.bytes);
    return SERVE_ANSWERED;
}

enum outcome serve_read_file(struct agent *a, json_t *req, json_t *reply, struct err *e)
{
    (void)reply;
    (void)e;
    return worker_start(a, req, read_file, LOOK_LIMIT_S);
}
