/* SPDX-License-Identifier: MIT
 *
 * Requests about files and mounts: open and close folders, mount, write, unpack, list, read,
 * remove. The agent carries a request out itself, or in a worker if the path may hang. It refuses
 * paths of the agent's files.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base64.h"
#include "lib/fs.h"
#include "lib/share.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/agent/clean.h"
#include "nodeagent-proto/agent/files.h"
#include "nodeagent-proto/agent/leases.h"
#include "nodeagent-proto/agent/monotonic.h"
#include "nodeagent-proto/agent/mounts.h"
#include "nodeagent-proto/agent/unlinked.h"
#include "nodeagent-proto/agent/upload.h"
#include "nodeagent-proto/agent/worker.h"
#include "nodeagent-proto/wire/listing.h"
#include "nodeagent-proto/wire/message.h"

/* How long the agent keeps an account that it has looked up, in ms, because a directory service may
 * be slow. */
#define ACCOUNT_MS 60000

/* The time limit for a file system that does not answer (seconds). */
#define LOOK_LIMIT_S 30
/* The time limit for opening a large share to all jobs for the first time (seconds). */
#define OPEN_LIMIT_S 600
/* The time limit for several mounts that are all stuck (seconds). */
#define UNMOUNT_LIMIT_S 60

/* Finds the account that the request names. *out is NULL for the agent's own account. */
static int get_as(struct agent *a, const char *name, const struct account **out, struct err *e)
{
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

static bool is_far(struct agent *a, const char *path)
{
    return mounts_may_hang(&a->mounts, a->root, path);
}

/* Executes the request in the agent or, if the path may hang (`far`), in a worker process. In both
 * cases, later requests wait for its end. */
static enum outcome here_or_in_worker(struct agent *a, struct ops_asked *q, bool far, serve_fn fn,
                                      struct err *e)
{
    return far ? worker_start_in_order(a, q->msg, fn, LOOK_LIMIT_S) : fn(a, q, e);
}

/* True: `path` is a file of the agent, which no request may remove or replace. */
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

static enum outcome mount_folder(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_mount_folder *r = &q->r.mount_folder;
    if (refuse_own(a, "target", r->target, e) < 0)
        return SERVE_FAILED;
    const struct file_folder source = {r->source, r->within};
    return outcome(file_link(a->root, &source, r->target, r->shared && a->facts.node.is_root, e));
}

enum outcome serve_mount_folder(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_mount_folder *r = &q->r.mount_folder;
    bool far = is_far(a, r->source);
    if (a->facts.node.is_root && r->shared && !far && !share_is_open(r->source))
        return worker_start_in_order(a, q->msg, mount_folder, OPEN_LIMIT_S);
    return here_or_in_worker(a, q, far, mount_folder, e);
}

static enum outcome open_folder(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_open_folder *r = &q->r.open_folder;
    const struct file_folder folder = {r->path, r->within};
    return a->facts.node.is_root ? outcome(file_open_to_all(&folder, e)) : SERVE_DONE;
}

enum outcome serve_open_folder(struct agent *a, struct ops_asked *q, struct err *e)
{
    const char *path = q->r.open_folder.path;
    if (is_far(a, path))
        return SERVE_DONE; /* a network or FUSE file system checks access itself, and may hang */
    if (!share_is_open(path))
        return worker_start_in_order(a, q->msg, open_folder, OPEN_LIMIT_S);
    return open_folder(a, q, e);
}

/* ---- remote commands ---- */

enum outcome serve_remote_open(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct account *as;
    if (get_as(a, q->r.remote_open.as, &as, e) < 0)
        return SERVE_FAILED;
    return outcome(remotes_open(a, q->r.remote_open.run, as, e));
}

enum outcome serve_remote_close(struct agent *a, struct ops_asked *q, struct err *e)
{
    (void)e;
    remotes_close(a, q->r.remote_close.run);
    return SERVE_DONE;
}

/* ---- mounts ---- */

static enum outcome unmount(struct agent *a, struct ops_asked *q, struct err *e)
{
    const char *target = q->r.unmount.target;
    if (mounts_detach_within(a->root, target, e) < 0)
        return SERVE_FAILED;
    return outcome(file_unlink(a->root, target, e));
}

enum outcome serve_unmount(struct agent *a, struct ops_asked *q, struct err *e)
{
    const char *target = q->r.unmount.target;
    if (refuse_own(a, "target", target, e) < 0 || file_check_below(a->root, target, e) < 0)
        return SERVE_FAILED;
    if (mounts_concern(a->root, target))
        return worker_start(a, q->msg, unmount, UNMOUNT_LIMIT_S);
    return outcome(file_unlink(a->root, target, e));
}

static enum outcome make_dirs(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_make_dirs *r = &q->r.make_dirs;
    const struct account *as;
    if (get_as(a, r->as, &as, e) < 0)
        return SERVE_FAILED;
    /* On shares, jobs with different accounts must be able to use the same directories, so
     * directories for a job's account are open to all. */
    bool open_to_all = as && *r->as == LEASE_SIGN;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < r->n_paths; i++) {
        mode_t mask = umask(0);
        (void)umask(open_to_all ? 0 : mask);
        rc = file_make_dirs(a->root, as, r->paths[i], e);
        (void)umask(mask);
    }
    return outcome(rc);
}

enum outcome serve_make_dirs(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_make_dirs *r = &q->r.make_dirs;
    bool far = false;
    for (size_t i = 0; i < r->n_paths; i++)
        far = far || is_far(a, r->paths[i]);
    return here_or_in_worker(a, q, far, make_dirs, e);
}

enum outcome serve_remove_tree(struct agent *a, struct ops_asked *q, struct err *e)
{
    const char *path = q->r.remove_tree.path;
    if (refuse_own(a, "path", path, e) < 0)
        return SERVE_FAILED;
    int rc = file_discard(a->root, path, a->trash_dir, &a->mounts, e);
    if (rc > 0)
        agent_empty_trash(a);
    return outcome(rc);
}

enum outcome serve_drop_unlinked(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_drop_unlinked *r = &q->r.drop_unlinked;
    const struct unlinked u = {.root = a->root,
                               .trash = a->trash_dir,
                               .mounts = &a->mounts,
                               .dir = r->dir,
                               .used = r->used,
                               .links = r->links};
    if (refuse_own(a, "dir", u.dir, e) < 0 || file_check_below(a->root, u.dir, e) < 0 ||
        file_check_below(a->root, u.links, e) < 0)
        return SERVE_FAILED;
    int rc = unlinked_discard(&u, e);
    if (rc > 0)
        agent_empty_trash(a);
    return outcome(rc);
}

/* The account with whose rights a file is written, and the umask to restore afterwards. */
struct rights {
    const struct account *as; /* NULL: the agent's account */
    mode_t mask;
};

static void resume(const struct rights *r)
{
    if (r->as)
        account_resume();
    (void)umask(r->mask);
}

/* Makes the parent directories of `path` and acquires the rights to write it. After success, the
 * caller must call resume(). */
static int prepare_to_write(struct agent *a, const char *as, const char *path, struct rights *r,
                            struct err *e)
{
    if (get_as(a, as, &r->as, e) < 0)
        return -1;
    r->mask = account_umask(r->as);
    int rc = r->as ? file_make_parents_as(a->root, r->as, path, e) : file_make_parents(path, e);
    if (rc == 0 && r->as)
        rc = account_assume(r->as, e);
    if (rc < 0)
        (void)umask(r->mask);
    return rc;
}

static enum outcome append(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_append *r = &q->r.append;
    struct rights as;
    if (prepare_to_write(a, r->as, r->path, &as, e) < 0)
        return SERVE_FAILED;
    int rc = file_append(r->path, r->text, e);
    resume(&as);
    return outcome(rc);
}

enum outcome serve_append(struct agent *a, struct ops_asked *q, struct err *e)
{
    return here_or_in_worker(a, q, is_far(a, q->r.append.path), append, e);
}

static enum outcome write_file(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_write_file *r = &q->r.write_file;
    struct rights as;
    if (prepare_to_write(a, r->as, r->path, &as, e) < 0)
        return SERVE_FAILED;
    int rc = file_replace(r->path, r->text, strlen(r->text), (mode_t)r->mode, e);
    resume(&as);
    return outcome(rc);
}

enum outcome serve_write_file(struct agent *a, struct ops_asked *q, struct err *e)
{
    return here_or_in_worker(a, q, is_far(a, q->r.write_file.path), write_file, e);
}

/* ---- files in parts, and archives ---- */

#define UNPACK_LIMIT_S 3600

static enum outcome write_bytes(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_write_bytes *r = &q->r.write_bytes;
    const struct file_piece piece = {.offset = r->offset,
                                     .bytes = r->bytes,
                                     .n = r->n_bytes,
                                     .last = r->last,
                                     .mode = (mode_t)r->mode};
    struct rights as;
    if (prepare_to_write(a, r->as, r->path, &as, e) < 0)
        return SERVE_FAILED;
    int rc = file_write_piece(r->path, &piece, e);
    resume(&as);
    return outcome(rc);
}

enum outcome serve_write_bytes(struct agent *a, struct ops_asked *q, struct err *e)
{
    return here_or_in_worker(a, q, is_far(a, q->r.write_bytes.path), write_bytes, e);
}

static enum outcome unpack(struct agent *a, struct ops_asked *q, struct err *e)
{
    (void)a;
    return outcome(archive_unpack(q->r.unpack.path, q->r.unpack.target, e));
}

enum outcome serve_unpack(struct agent *a, struct ops_asked *q, struct err *e)
{
    const char *path = q->r.unpack.path, *target = q->r.unpack.target;
    struct stat st;
    if (refuse_own(a, "target", target, e) < 0 || file_check_below(a->root, target, e) < 0 ||
        (path && file_check_below(a->root, path, e) < 0))
        return SERVE_FAILED;
    if (path)
        return worker_start(a, q->msg, unpack, UNPACK_LIMIT_S);
    if (stat(target, &st) == 0 && S_ISDIR(st.st_mode))
        return SERVE_DONE;
    err_set(e, ERR_FILE_NOT_FOUND, "target", "%s is not there", target);
    return SERVE_FAILED;
}

/* ---- looking at files: in a worker ---- */

/* How many entries fit into a frame even if all have the longest names, and all bytes of the names
 * are escaped. */
#define ENTRIES_PER_REPLY 2000
#define RUNS_DIR          "/jobs/"

/* The path to read, in two parts, and the account with whose rights it is read (NULL: the agent's
 * account). */
struct file_look {
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

/* Returns the path of `base` relative to the directory of the job `name`; NULL: `base` is outside
 * of it. */
static const char *within_job(const struct agent *a, const char *name, const char *base)
{
    size_t root = strlen(a->root), n = strlen(RUNS_DIR), m = strlen(name);
    if (strncmp(base, a->root, root) != 0 || strncmp(base + root, RUNS_DIR, n) != 0)
        return NULL;
    base += root + n;
    return strncmp(base, name, m) == 0 && (base[m] == '/' || base[m] == '\0')
               ? base + m + (base[m] == '/')
               : NULL;
}

/* Sets the rights for a job whose account was released. The agent owns the files left in the job's
 * directory, so it opens them itself, starting at this directory, and refuses links that leave it.
 * All other files are opened with the rights of lease_nobody(). */
static void look_as_nobody(struct agent *a, struct file_look *l, const char *name)
{
    const char *rest = within_job(a, name, l->base);
    if (!rest) {
        account_free(&a->as);
        lease_nobody(a->root, &a->as);
        l->as = &a->as;
        return;
    }
    struct strbuf base = STRBUF_INIT, path = STRBUF_INIT;
    strbuf_printf(&base, "%s" RUNS_DIR "%s", a->root, name);
    strbuf_printf(&path, "%s%s%s", rest, *rest && *l->path ? "/" : "", l->path);
    l->as = NULL;
    l->base = strbuf_take(&base);
    l->path = strbuf_take(&path);
}

/* True: the job's directory belongs to the agent already. While an account is released, the agent
 * becomes the owner of the directory first, then of the files in it. */
static bool is_handed_over(const struct agent *a, const char *name)
{
    struct stat st;
    struct strbuf dir = STRBUF_INIT;
    strbuf_printf(&dir, "%s" RUNS_DIR "%s", a->root, name);
    bool ours = stat(dir.s, &st) == 0 && st.st_uid == geteuid();
    strbuf_free(&dir);
    return ours;
}

/* Acquires the rights of the account permanently for this worker process. The real ids change, too,
 * because FUSE also checks them. Then the process is made not dumpable, so that no process of the
 * account can read its memory, which contains other requests. */
static int begin_look(struct agent *a, const char *name, struct file_look *l, struct err *e)
{
    bool leased = name && *name == LEASE_SIGN && a->facts.node.is_root;
    bool taken = leased && lease_is_taken(a->root, name + 1);
    if ((!leased || taken) && get_as(a, name, &l->as, e) < 0) {
        if (!leased || lease_is_taken(a->root, name + 1))
            return -1;
        taken = false; /* the lease was released between the two checks */
    }
    /* A job that began before jobs had accounts may have the uid of the agent, and so may its
     * directory. */
    bool handed_over = taken && l->as && l->as->uid != geteuid() && is_handed_over(a, name + 1);
    if (leased && (!taken || handed_over))
        look_as_nobody(a, l, name + 1);
    if (!l->as)
        return 0;
    int rc = account_become(l->as, e);
    prctl(PR_SET_DUMPABLE, 0);
    return rc;
}

static enum outcome list_dir(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_list_dir *r = &q->r.list_dir;
    struct file_look look = {.base = r->base, .path = r->path};
    struct disk_listing l;
    if (begin_look(a, r->as, &look, e) < 0 || disk_list(look.base, look.path, &l, e) < 0)
        return SERVE_FAILED;
    json_t *entries = json_array();
    if (l.cut)
        json_object_set_new(q->reply, "cut", json_true());
    if (l.left_out > 0)
        json_object_set_new(q->reply, "left_out", json_integer(l.left_out));
    for (size_t i = 0; i < l.n; i++) {
        if (json_array_size(entries) == ENTRIES_PER_REPLY)
            send_part(a, q->reply, entries);
        json_array_append_new(entries, message_dir_entry(&l.entries[i]));
    }
    json_object_set_new(q->reply, "entries", entries);
    disk_list_free(&l);
    return SERVE_DONE;
}

enum outcome serve_list_dir(struct agent *a, struct ops_asked *q, struct err *e)
{
    (void)e;
    return worker_start(a, q->msg, list_dir, LOOK_LIMIT_S);
}

static enum outcome read_file(struct agent *a, struct ops_asked *q, struct err *e)
{
    const struct request_read_file *r = &q->r.read_file;
    struct file_look look = {.base = r->base, .path = r->path};
    struct disk_part part;
    if (begin_look(a, r->as, &look, e) < 0)
        return SERVE_FAILED;
    if (disk_read_file(look.base, look.path, r->offset, (size_t)r->max, &part, e) < 0) {
        free(part.bytes);
        return SERVE_FAILED;
    }
    json_object_set_new(q->reply, "size", json_integer(part.size));
    json_object_set_new(q->reply, "mtime_us", json_integer(part.mtime_us));
    json_object_set_new(q->reply, "mode", json_integer(part.mode));
    json_object_set_new(q->reply, "inode", json_integer(part.inode));
    if (r->raw) {
        agent_send_with(a, json_incref(q->reply), part.bytes, part.n);
    } else {
        char *text = base64_encode(part.bytes, part.n);
        json_object_set_new(q->reply, "bytes", json_string(text));
        agent_send(a, json_incref(q->reply));
        free(text);
    }
    free(part.bytes);
    return SERVE_ANSWERED;
}

enum outcome serve_read_file(struct agent *a, struct ops_asked *q, struct err *e)
{
    (void)e;
    return worker_start(a, q->msg, read_file, LOOK_LIMIT_S);
}
