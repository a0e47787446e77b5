/* SPDX-License-Identifier: MIT
 *
 * The steps that keep an archive: an upload of storage/folders/ copies the archive; the lane's
 * thread computes the hash, renames and syncs; then the callback. Until it is complete the file has
 * the name of an unfinished file. Callbacks run on the loop, which owns the list of keeps; a daemon
 * that stops waits PATIENCE_US for the thread.
 */
#include "storage/packages/packages.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "storage/folders/change.h"
#include "storage/folders/upload.h"
#include "storage/storage.h"

#define QUEUE     256 /* the most archives that wait for the thread */
#define SUFFIX    ".zip"
#define NAME_SIZE (PACKAGE_HASH + sizeof SUFFIX)
#define PIECE     ((size_t)256 * 1024)
/* How long a daemon that stops waits for a large archive (us). */
#define PATIENCE_US 3000000

struct packages {
    struct packages_config c;
    struct loop_lane *lane;
    char *dir;
    struct keep *keeps; /* archives that are being kept */
    bool sweep_wanted, sweeping;
    struct package_names *asked; /* it waits for on_durable(); NULL: none does */
    bool stopping, lane_gone;
    uint64_t next;         /* number of the next unfinished file */
    int64_t wall_ahead_us; /* difference of the clocks at the start */
    struct loop_timer *daily;
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* An archive that is being kept. */
struct keep {
    struct packages *p;
    struct keep *next, **here;
    package_keeping cb; /* NULL: the caller has ended */
    void *ctx;
    char *share, *path; /* the source; NULL: `bytes` is the source */
    char *bytes;
    size_t n;
    char name[32]; /* name of the unfinished file */
    struct file_upload *upload;
    bool has_upload, on_thread;
    int rc;         /* result of the work on the thread */
    struct err why; /* why that work failed */
    struct package_kept kept;
};

/* --- the end of one --------------------------------------------------------------------------- */

static void go_on(struct packages *p);

static void tell(struct keep *k, const struct err *why)
{
    package_keeping cb = k->cb;
    k->cb = NULL;
    if (cb)
        cb(k->ctx, why, why ? NULL : &k->kept);
}

static void finish(struct keep *k, const struct err *why)
{
    struct packages *p = k->p;
    tell(k, why);
    *k->here = k->next;
    if (k->next)
        k->next->here = k->here;
    free(k->share);
    free(k->path);
    free(k->bytes);
    free(k);
    go_on(p);
}

/* --- on the thread: sum, rename, sync
 * --------------------------------------------------------------- */

static int sum(int fd, struct package_kept *out, struct err *e)
{
    crypto_hash_sha256_state state;
    unsigned char digest[crypto_hash_sha256_BYTES];
    unsigned char *piece = xcalloc(1, PIECE);
    ssize_t n;
    off_t at = 0;
    crypto_hash_sha256_init(&state);
    while ((n = pread(fd, piece, PIECE, at)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        crypto_hash_sha256_update(&state, piece, (unsigned long long)n);
        at += n;
    }
    crypto_hash_sha256_final(&state, digest);
    free(piece);
    if (n < 0)
        return err_set(e, ERR_IO, NULL, "The archive cannot be read: %s.", strerror(errno));
    sodium_bin2hex(out->hash, sizeof out->hash, digest, sizeof digest);
    out->size = at;
    return 0;
}

/* Syncs the folder, because the file's new name is on disk only after that. */
static int sync_folder(const struct packages *p)
{
    if (!files_sync(p->c.files))
        return 0;
    int fd = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int place(struct keep *k, const char *from, struct err *e)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s" SUFFIX, k->kept.hash);
    char *to = fs_join(k->p->dir, name);
    int rc = rename(from, to) == 0 && sync_folder(k->p) == 0
                 ? 0
                 : err_set(e, ERR_IO, NULL, "The archive cannot be stored: %s.", strerror(errno));
    free(to);
    return rc;
}

/* Writes the file, unless it exists. */
static int write_bytes(const struct keep *k, const char *path, struct err *e)
{
    size_t done = 0;
    if (!k->bytes)
        return 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    while (fd >= 0 && done < k->n) {
        ssize_t n = write(fd, k->bytes + done, k->n - done);
        if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    bool bad = fd < 0 || done < k->n || (files_sync(k->p->c.files) && fsync(fd) < 0);
    if (bad)
        err_set(e, ERR_IO, NULL, "The archive cannot be written: %s.", strerror(errno));
    if (fd >= 0)
        close(fd);
    return bad ? -1 : 0;
}

static void work(void *ctx)
{
    struct keep *k = ctx;
    char *path = fs_join(k->p->dir, k->name);
    k->rc = write_bytes(k, path, &k->why);
    int fd = k->rc < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && k->rc == 0)
        k->rc = err_set(&k->why, ERR_IO, NULL, "The archive cannot be read: %s.", strerror(errno));
    else if (k->rc == 0 && (sum(fd, &k->kept, &k->why) < 0 || place(k, path, &k->why) < 0))
        k->rc = -1;
    if (fd >= 0)
        close(fd);
    if (k->rc < 0)
        unlink(path);
    free(path);
}

static void worked(void *ctx, enum loop_work_end how)
{
    struct keep *k = ctx;
    if (how == LOOP_WORK_DROPPED)
        k->rc = err_set(&k->why, ERR_UNAVAILABLE, NULL, "The daemon stops.");
    finish(k, k->rc < 0 ? &k->why : NULL);
}

/* --- the copy --------------------------------------------------------------------------------- */

static void give_up(struct keep *k, const struct err *why, enum file_fault fault)
{
    struct err e = *why;
    if (k->has_upload)
        upload_end(k->upload);
    if (fault == FILE_MISSING || fault == FILE_PARENT_MISSING || fault == FILE_IS_DIRECTORY)
        e.code = ERR_FILE_NOT_FOUND;
    finish(k, &e);
}

/* A copy that could not be removed now is removed at the next start. */
static void on_removed(void *ctx, const struct err *why)
{
    (void)ctx;
    (void)why;
}

static void remove_copy(const struct keep *k)
{
    char *path = fs_join(k->p->dir, k->name);
    files_remove_tree(k->p->c.files, k->p->dir, path, on_removed, NULL);
    free(path);
}

static void on_finished(void *ctx, const struct err *why, const struct file_result *r)
{
    struct keep *k = ctx;
    struct err e;
    if (why) {
        give_up(k, why, r->fault);
        return;
    }
    upload_end(k->upload);
    k->has_upload = false;
    k->on_thread = !k->p->stopping && loop_work(k->p->lane, work, worked, k);
    if (k->on_thread)
        return;
    remove_copy(k);
    err_set(&e, ERR_UNAVAILABLE, NULL, "Too many packages are being activated.");
    give_up(k, &e, FILE_BROKEN);
}

static void on_copied(void *ctx, const struct err *why, const struct file_result *r)
{
    struct keep *k = ctx;
    if (why)
        give_up(k, why, r->fault);
    else
        upload_finish(k->upload, NULL, on_finished, k);
}

static void on_begun(void *ctx, const struct err *why, enum file_fault fault,
                     struct file_upload *upload)
{
    struct keep *k = ctx;
    if (why) {
        give_up(k, why, fault == FILE_MISSING ? FILE_BROKEN : fault);
        return;
    }
    k->upload = upload;
    k->has_upload = true;
    const struct file_part all = {k->path, {0, FILES_ALL}};
    upload_copy(upload, k->share, &all, 1, on_copied, k);
}

static void refuse_bytes(void *ctx)
{
    struct err e;
    err_set(&e, ERR_UNAVAILABLE, NULL, "Too many packages are being activated.");
    finish(ctx, &e);
}

static struct keep *keep_new(struct packages *p, package_keeping cb, void *ctx)
{
    struct keep *k = xcalloc(1, sizeof *k);
    k->p = p;
    k->cb = cb;
    k->ctx = ctx;
    snprintf(k->name, sizeof k->name, "new-%llu", (unsigned long long)p->next++);
    k->here = &p->keeps;
    k->next = p->keeps;
    if (k->next)
        k->next->here = &k->next;
    p->keeps = k;
    return k;
}

void packages_keep_bytes(struct packages *p, char *bytes, size_t n, package_keeping cb, void *ctx)
{
    struct keep *k = keep_new(p, cb, ctx);
    k->bytes = bytes;
    k->n = n;
    k->on_thread = !p->stopping && loop_work(p->lane, work, worked, k);
    if (!k->on_thread)
        loop_defer(p->c.loop, refuse_bytes, k);
}

void packages_keep(struct packages *p, const struct file_place *from, package_keeping cb, void *ctx)
{
    struct keep *k = keep_new(p, cb, ctx);
    k->share = xstrdup(from->share);
    k->path = xstrdup(from->path);
    const struct files_upload what = {
        .at = {p->dir, k->name}, .mode = 0600, .directory_mode = 0700};
    files_upload(p->c.files, &what, on_begun, k);
}

struct file_place packages_place(const struct packages *p, struct arena *a, const char *hash)
{
    return (struct file_place){arena_strdup(a, p->dir), arena_concat(a, hash, SUFFIX)};
}

/* --- files without a row ---------------------------------------------------------------------- */

/* As files in `.aside` of an account (storage/shares/aside.c): a file is marked at first, and
 * removed a week later, so a database that was replaced by its backup keeps its archives for some
 * days. */
#define MARK           S_ISVTX
#define SWEEP_EVERY_US (INT64_C(24) * 3600 * 1000000)
#define SWEEP_AFTER_US (7 * SWEEP_EVERY_US)

struct package_name {
    char hash[PACKAGE_HASH];
    bool is_named; /* by a row */
};

struct package_names {
    struct packages *p; /* NULL: the daemon stops, and only on_durable() has this */
    struct package_name *items;
    size_t n;
    int64_t before_us; /* files that were marked before this instant are removed */
};

static void list_names(void *ctx)
{
    struct package_names *l = ctx;
    DIR *d = opendir(l->p->dir);
    for (struct dirent *x; d && (x = readdir(d)) != NULL;) {
        size_t n = strlen(x->d_name);
        if (n != PACKAGE_HASH - 1 + strlen(SUFFIX) ||
            strcmp(x->d_name + n - strlen(SUFFIX), SUFFIX) != 0)
            continue;
        l->items = xrealloc(l->items, (l->n + 1) * sizeof *l->items);
        struct package_name *item = &l->items[l->n++];
        *item = (struct package_name){.is_named = false};
        memcpy(item->hash, x->d_name, PACKAGE_HASH - 1);
    }
    if (d)
        closedir(d);
}

static void end_name(const struct package_name *item, const char *path, int64_t before_us)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return;
    mode_t mode = st.st_mode & 07777;
    bool is_marked = (mode & MARK) != 0;
    if (item->is_named == is_marked)
        (void)!chmod(path, is_marked ? mode & ~(mode_t)MARK : mode | MARK); /* or it stays */
    else if (is_marked && st.st_ctim.tv_sec < before_us / INT64_C(1000000))
        unlink(path);
}

static void end_names(void *ctx)
{
    const struct package_names *l = ctx;
    for (size_t i = 0; i < l->n; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%s" SUFFIX, l->items[i].hash);
        char *path = fs_join(l->p->dir, name);
        end_name(&l->items[i], path, l->before_us);
        free(path);
    }
}

static void names_free(struct package_names *l)
{
    free(l->items);
    free(l);
}

static void swept(void *ctx, enum loop_work_end how)
{
    struct package_names *l = ctx;
    struct packages *p = l->p;
    (void)how;
    names_free(l);
    p->sweeping = false;
    go_on(p);
}

static int ask_rows(struct package_names *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct err e;
        int64_t n = 0;
        if (st_batch_package_of_hash(l->p->c.storage, l->items[i].hash, &n, &e) < 0)
            return -1;
        l->items[i].is_named = l->items[i].is_named || n > 0;
    }
    return 0;
}

/* Called when the removal of the files' last row is on disk, so that no power cut brings a row
 * back. */
static void on_durable(void *ctx, const struct err *why)
{
    struct package_names *l = ctx;
    struct packages *p = l->p;
    if (!p) {
        names_free(l);
        return;
    }
    p->asked = NULL;
    p->sweep_wanted = p->sweep_wanted || p->keeps;
    if (!why && !p->keeps && ask_rows(l) == 0 && loop_work(p->lane, end_names, swept, l))
        return;
    swept(l, LOOP_WORK_DROPPED);
}

static void listed(void *ctx, enum loop_work_end how)
{
    struct package_names *l = ctx;
    struct packages *p = l->p;
    if (how == LOOP_WORK_DONE && !p->stopping && ask_rows(l) == 0) {
        p->asked = l;
        st_when_durable(p->c.storage, on_durable, l);
    } else {
        swept(l, how);
    }
}

/* The wall clock without any steps forward since the start. */
static int64_t steady_wall(const struct packages *p)
{
    int64_t steady = loop_mono_us(p->c.loop) + p->wall_ahead_us, wall = loop_wall_us(p->c.loop);
    return steady < wall ? steady : wall;
}

static void sweep(struct packages *p)
{
    struct package_names *l = xcalloc(1, sizeof *l);
    *l = (struct package_names){.p = p, .before_us = steady_wall(p) - SWEEP_AFTER_US};
    p->sweep_wanted = false;
    p->sweeping = loop_work(p->lane, list_names, listed, l);
    if (!p->sweeping)
        free(l);
}

void packages_sweep(struct packages *p)
{
    p->sweep_wanted = true;
    go_on(p);
}

static void wait_a_day(struct packages *p)
{
    loop_timer_start(p->daily, loop_mono_us(p->c.loop) + SWEEP_EVERY_US);
}

static void sweep_daily(void *ctx)
{
    struct packages *p = ctx;
    wait_a_day(p);
    packages_sweep(p);
}

/* --- start and end --- */

/* Whether storage/folders/ still works on an archive. Work on the thread does not count: it is
 * abandoned with the thread. */
static bool copies(const struct packages *p)
{
    for (const struct keep *k = p->keeps; k; k = k->next)
        if (!k->on_thread)
            return true;
    return false;
}

static void go_on(struct packages *p)
{
    if (!p->stopping && !p->keeps && !p->sweeping && p->sweep_wanted)
        sweep(p);
    if (!p->lane_gone || copies(p))
        return;
    void (*stopped)(void *ctx) = p->stopped;
    void *ctx = p->stopped_ctx;
    free(p->dir);
    free(p);
    stopped(ctx);
}

static void lane_closed(void *ctx)
{
    struct packages *p = ctx;
    p->lane_gone = true;
    go_on(p);
}

/* Removes unfinished files of a killed daemon. */
static void remove_unfinished(const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *x; d && (x = readdir(d)) != NULL;)
        if (strncmp(x->d_name, "new-", 4) == 0)
            unlinkat(dirfd(d), x->d_name, 0);
    if (d)
        closedir(d);
}

struct packages *packages_create(const struct packages_config *c)
{
    struct packages *p = xcalloc(1, sizeof *p);
    p->c = *c;
    p->dir = xstrdup(c->dir);
    p->c.dir = p->dir;
    p->lane = loop_lane_create(c->loop, "packages", 1, QUEUE);
    remove_unfinished(p->dir);
    p->wall_ahead_us = loop_wall_us(c->loop) - loop_mono_us(c->loop);
    p->daily = loop_timer_create(c->loop, sweep_daily, p);
    wait_a_day(p);
    sweep(p);
    return p;
}

void packages_end_requests(struct packages *p)
{
    struct err e;
    err_set(&e, ERR_UNAVAILABLE, NULL, "The daemon stops.");
    for (struct keep *k = p->keeps; k; k = k->next)
        tell(k, &e);
}

void packages_stop(struct packages *p, void (*stopped)(void *ctx), void *ctx)
{
    p->stopping = true;
    p->stopped = stopped;
    p->stopped_ctx = ctx;
    loop_timer_destroy(p->daily);
    if (p->asked)
        p->asked->p = NULL;
    loop_lane_close(p->lane, LOOP_LANE_DROP, PATIENCE_US, lane_closed, p);
}
