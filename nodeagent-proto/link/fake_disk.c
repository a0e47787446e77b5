/* SPDX-License-Identifier: MIT
 *
 * Requests about files of a fake node, carried out in its root at once: a table has the function of
 * each known request. Runs on the loop and blocks it while the disk works; this is allowed because
 * fake nodes are for tests. A file of write_bytes is called FILE.part until its last piece has
 * arrived.
 */
#include "nodeagent-proto/link/fake_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/strbuf.h"
#include "nodeagent-proto/wire/listing.h"
#include "nodeagent-proto/wire/message.h"

#define DIR_MODE  0777
#define FILE_MODE 0666
/* The suffix of a file whose last piece has not arrived. */
#define UNFINISHED ".part"
#define NS_PER_US  1000
/* The most entries of a listing, because it must fit one frame. */
#define ENTRIES_MAX 2000

static int make_parents(const char *path, struct err *e)
{
    char *dir = fs_folder(path);
    int rc = fs_mkdirs(dir, DIR_MODE, e);
    free(dir);
    return rc;
}

/* Closes the file after a write. `well`: the write succeeded; otherwise errno has the reason. */
static int write_end(int fd, const char *path, bool well, int64_t now_us, struct err *e)
{
    int rc = well ? 0 : err_errno(e, ERR_IO, "cannot write %s", path);
    if (well)
        fs_set_mtime(fd, now_us * NS_PER_US);
    if (fd >= 0)
        close(fd);
    return rc;
}

static bool climbs(const char *path)
{
    for (const char *at = path; (at = strstr(at, "/..")); at += 3)
        if (at[3] == '/' || at[3] == '\0')
            return true;
    return false;
}

char *fake_disk_place(const char *root, const char *path)
{
    struct strbuf b = STRBUF_INIT;
    if (*path != '/' || (!climbs(path) && fs_is_within(path, root))) {
        strbuf_puts(&b, path);
        return strbuf_take(&b);
    }
    strbuf_concat(&b, root, "/host");
    for (const char *part = path; *part; part += strcspn(part, "/")) {
        part += strspn(part, "/");
        size_t n = strcspn(part, "/");
        if (n > 0 && !(n == 2 && strncmp(part, "..", 2) == 0)) {
            strbuf_puts(&b, "/");
            strbuf_add(&b, part, n);
        }
    }
    return strbuf_take(&b);
}

int fake_disk_append(const char *path, const char *text, size_t n, int64_t now_us, struct err *e)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, FILE_MODE);
    if (fd < 0 && errno == ENOENT) {
        if (make_parents(path, e) < 0)
            return -1;
        fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, FILE_MODE);
    }
    return write_end(fd, path, fd >= 0 && fs_write_all(fd, text, n) == 0, now_us, e);
}

/* --- the requests ------------------------------------------------------------------------------
 */

/* A request: the node's root, the request and its time, and its answer. */
struct disk_work {
    const char *root;
    const struct node_request *r;
    int64_t now_us;
    struct fake_answer *out;
};

static bool is_below(const char *root, const char *path)
{
    size_t n = strlen(root);
    return strncmp(path, root, n) == 0 && path[n] == '/' && path[n + 1] && !strstr(path, "/../");
}

static int check_below(const struct disk_work *w, const char *path, struct err *e)
{
    return is_below(w->root, path)
               ? 0
               : err_set(e, ERR_INVALID_PATH, "path", "%.300s is not below %s", path, w->root);
}

static int make_dirs(struct disk_work *w, struct err *e)
{
    const struct request_make_dirs *r = &w->r->make_dirs;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < r->n_paths; i++) {
        char *at = fake_disk_place(w->root, r->paths[i]);
        rc = fs_mkdirs(at, DIR_MODE, e);
        free(at);
    }
    return rc;
}

static int clear_target(const struct disk_work *w, const char *target, struct err *e)
{
    if (check_below(w, target, e) < 0)
        return -1;
    if (unlink(target) < 0 && errno == EISDIR)
        /* removes an empty directory only; a directory with content is no placeholder of a link */
        (void)rmdir(target);
    return 0;
}

static int unmount(struct disk_work *w, struct err *e)
{
    return clear_target(w, w->r->unmount.target, e);
}

static int mount_folder(struct disk_work *w, struct err *e)
{
    const char *source = w->r->mount_folder.source, *target = w->r->mount_folder.target;
    if (clear_target(w, target, e) < 0 || fs_mkdirs(source, DIR_MODE, e) < 0 ||
        make_parents(target, e) < 0)
        return -1;
    return symlink(source, target) == 0 || errno == EEXIST
               ? 0
               : err_errno(e, ERR_IO, "cannot link %s to %s", target, source);
}

static int nothing(struct disk_work *w, struct err *e)
{
    (void)w;
    (void)e;
    return 0;
}

static int append(struct disk_work *w, struct err *e)
{
    const struct request_append *r = &w->r->append;
    char *at = fake_disk_place(w->root, r->path);
    int rc = fake_disk_append(at, r->text, strlen(r->text), w->now_us, e);
    free(at);
    return rc;
}

/* Writes a piece into the temporary file; after the last piece, renames the file to its path. */
static int put_piece(const struct disk_work *w, const struct request_write_bytes *p, struct err *e)
{
    char *path = fake_disk_place(w->root, p->path);
    struct strbuf beside = STRBUF_INIT;
    strbuf_printf(&beside, "%s" UNFINISHED, path);
    int rc = make_parents(path, e);
    if (rc == 0) {
        int anew = p->offset == 0 ? O_TRUNC : 0;
        int fd = open(beside.s, O_WRONLY | O_CREAT | O_CLOEXEC | anew, FILE_MODE);
        bool well = fd >= 0 && lseek(fd, p->offset, SEEK_SET) == p->offset &&
                    fs_write_all(fd, p->bytes, p->n_bytes) == 0 &&
                    (!p->last || rename(beside.s, path) == 0);
        rc = write_end(fd, path, well, w->now_us, e);
    }
    strbuf_free(&beside);
    free(path);
    return rc;
}

static int write_file(struct disk_work *w, struct err *e)
{
    const struct request_write_file *r = &w->r->write_file;
    const struct request_write_bytes whole = {
        .path = r->path, .bytes = r->text, .n_bytes = strlen(r->text), .last = true};
    return put_piece(w, &whole, e);
}

static int write_bytes(struct disk_work *w, struct err *e)
{
    return put_piece(w, &w->r->write_bytes, e);
}

static int remove_tree(struct disk_work *w, struct err *e)
{
    const char *path = w->r->remove_tree.path;
    return check_below(w, path, e) < 0 ? -1 : fs_remove_tree(path, e);
}

/* Makes an empty directory instead of the archive's content: the archive is not opened. */
static int unpack(struct disk_work *w, struct err *e)
{
    const char *archive = w->r->unpack.path, *target = w->r->unpack.target;
    struct stat st;
    if (check_below(w, target, e) < 0)
        return -1;
    if (!archive)
        return stat(target, &st) == 0
                   ? 0
                   : err_set(e, ERR_FILE_NOT_FOUND, "target", "%s is not there", target);
    (void)unlink(archive);
    return fs_mkdirs(target, DIR_MODE, e);
}

static int list_dir(struct disk_work *w, struct err *e)
{
    struct disk_listing l;
    char *base = fake_disk_place(w->root, w->r->list_dir.base);
    int rc = disk_list(base, w->r->list_dir.path, &l, e);
    free(base);
    if (rc < 0)
        return -1;
    json_t *entries = json_array();
    for (size_t i = 0; i < l.n && i < ENTRIES_MAX; i++)
        json_array_append_new(entries, message_dir_entry(&l.entries[i]));
    w->out->says = json_pack("{s:o, s:b, s:I}", "entries", entries, "cut",
                             l.cut || l.n > ENTRIES_MAX, "left_out", (json_int_t)l.left_out);
    disk_list_free(&l);
    return 0;
}

static int read_file(struct disk_work *w, struct err *e)
{
    struct disk_part part;
    const struct request_read_file *r = &w->r->read_file;
    char *base = fake_disk_place(w->root, r->base);
    int rc = disk_read_file(base, r->path, r->offset, (size_t)r->max, &part, e);
    free(base);
    if (rc < 0) {
        free(part.bytes);
        return -1;
    }
    w->out->says = json_pack("{s:I, s:I, s:I, s:I}", "size", (json_int_t)part.size, "mtime_us",
                             (json_int_t)part.mtime_us, "mode", (json_int_t)part.mode, "inode",
                             (json_int_t)part.inode);
    w->out->bytes = part.bytes;
    w->out->n = part.n;
    return 0;
}

static int (*const serve[N_REQUESTS])(struct disk_work *w, struct err *e) = {
    [REQUEST_make_dirs] = make_dirs,     [REQUEST_mount_folder] = mount_folder,
    [REQUEST_open_folder] = nothing,     [REQUEST_unmount] = unmount,
    [REQUEST_append] = append,           [REQUEST_write_file] = write_file,
    [REQUEST_write_bytes] = write_bytes, [REQUEST_remove_tree] = remove_tree,
    [REQUEST_unpack] = unpack,           [REQUEST_list_dir] = list_dir,
    [REQUEST_read_file] = read_file,
};

int fake_disk_serve(const char *root, const struct node_request *r, int64_t now_us,
                    struct fake_answer *out, struct err *e)
{
    struct disk_work w = {root, r, now_us, out};
    *out = (struct fake_answer){0};
    if (!serve[r->op])
        return 0;
    return serve[r->op](&w, e) < 0 ? -1 : 1;
}
