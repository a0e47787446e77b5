/* SPDX-License-Identifier: MIT */
#include "test/sim/sim_disk.h"

#include <assert.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/arena.h"

#define PATH_SIZE 200

/* What a write that is not synced has replaced. */
struct undo {
    struct undo *older;
    int64_t at, n;    /* `bytes` stood there */
    int64_t old_size; /* of the file */
    char bytes[];
};

/* Those that a daemon leaves behind: the database, its WAL, its key. */
enum { DB, WAL, KEY, N_FILES };
static const char *const file_names[N_FILES] = {"db", "db-wal", "key"};

struct track {
    struct undo *newest;
    int n_undo;
};

struct sim_disk {
    char dir[PATH_SIZE];
    bool full, crashed;
    struct track files[N_FILES];
    long writes, syncs;
    int refs; /* the owner and open files */
};

static struct {
    char dir[PATH_SIZE];
    int n_disks;
    sqlite3_vfs vfs, *real;
    struct sim_disk *current;
    char *template[N_FILES];
    size_t template_n[N_FILES];
} all;

struct file {
    sqlite3_file base; /* first */
    struct sim_disk *disk;
    struct track *track; /* NULL: of no interest */
    sqlite3_file real[];
};

/* --- files of the system
 * --------------------------------------------------------------------------- */

const char *sim_disk_path(const struct sim_disk *d, const char *name, char *buf, int size)
{
    int n = snprintf(buf, (size_t)size, "%s/%s", d->dir, name);
    assert(n > 0 && n < size);
    (void)n;
    return buf;
}

static char *read_file(const char *path, size_t *n)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat s;
    *n = 0;
    if (fd < 0)
        return NULL;
    int rc = fstat(fd, &s);
    assert(rc == 0);
    char *bytes = xcalloc(1, (size_t)s.st_size + 1);
    ssize_t got = read(fd, bytes, (size_t)s.st_size);
    assert(got == s.st_size);
    (void)got;
    close(fd);
    *n = (size_t)s.st_size;
    return rc == 0 ? bytes : NULL;
}

static void write_file(const char *path, const char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t done = fd >= 0 ? write(fd, bytes, n) : -1;
    if (done != (ssize_t)n) {
        perror(path);
        abort();
    }
    close(fd);
}

/* --- what was not synced
 * ---------------------------------------------------------------------------- */

static void drop(struct track *t)
{
    while (t->newest) {
        struct undo *u = t->newest;
        t->newest = u->older;
        free(u);
    }
    t->n_undo = 0;
}

static int note(struct file *f, int64_t at, int64_t n)
{
    sqlite3_int64 size;
    int rc = f->real->pMethods->xFileSize(f->real, &size);
    if (rc != SQLITE_OK || f->disk->crashed)
        return rc;
    int64_t there = size > at ? size - at : 0;
    there = there < n ? there : n;
    struct undo *u = xcalloc(1, sizeof *u + (size_t)there);
    u->at = at;
    u->n = there;
    u->old_size = size;
    if (there > 0)
        rc = f->real->pMethods->xRead(f->real, u->bytes, (int)there, at);
    u->older = f->track->newest;
    f->track->newest = u;
    f->track->n_undo++;
    f->disk->writes++;
    return rc;
}

static void synced(struct sim_disk *d, struct track *t)
{
    drop(t);
    d->syncs++;
}

/* --- SQLite's side
 * ---------------------------------------------------------------------------------- */

static struct file *mine(sqlite3_file *f)
{
    return (struct file *)(void *)f;
}
#define REAL(f) (mine(f)->real)

static void unref(struct sim_disk *d)
{
    if (--d->refs > 0)
        return;
    for (int i = 0; i < N_FILES; i++) {
        char path[PATH_SIZE + 16];
        drop(&d->files[i]);
        (void)unlink(sim_disk_path(d, file_names[i], path, sizeof path));
    }
    char shm[PATH_SIZE + 16];
    (void)unlink(sim_disk_path(d, "db-shm", shm, sizeof shm));
    (void)rmdir(d->dir);
    free(d);
}

static int x_close(sqlite3_file *f)
{
    int rc = REAL(f)->pMethods ? REAL(f)->pMethods->xClose(REAL(f)) : SQLITE_OK;
    unref(mine(f)->disk);
    return rc;
}

static int x_read(sqlite3_file *f, void *buf, int n, sqlite3_int64 at)
{
    return REAL(f)->pMethods->xRead(REAL(f), buf, n, at);
}

static int x_write(sqlite3_file *f, const void *buf, int n, sqlite3_int64 at)
{
    struct file *file = mine(f);
    if (file->track) {
        sqlite3_int64 size = 0;
        if (file->disk->full && !file->disk->crashed) {
            (void)REAL(f)->pMethods->xFileSize(REAL(f), &size);
            if (at + n > size)
                return SQLITE_FULL;
        }
        int rc = note(file, at, n);
        if (rc != SQLITE_OK)
            return rc;
    }
    return REAL(f)->pMethods->xWrite(REAL(f), buf, n, at);
}

static int x_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    sqlite3_int64 old;
    if (mine(f)->track && REAL(f)->pMethods->xFileSize(REAL(f), &old) == SQLITE_OK && old > size) {
        int rc = note(mine(f), size, old - size);
        if (rc != SQLITE_OK)
            return rc;
    }
    return REAL(f)->pMethods->xTruncate(REAL(f), size);
}

static int x_sync(sqlite3_file *f, int flags)
{
    (void)flags;
    if (mine(f)->track)
        synced(mine(f)->disk, mine(f)->track);
    return SQLITE_OK;
}

static int x_file_size(sqlite3_file *f, sqlite3_int64 *size)
{
    return REAL(f)->pMethods->xFileSize(REAL(f), size);
}

static int x_lock(sqlite3_file *f, int how)
{
    return REAL(f)->pMethods->xLock(REAL(f), how);
}

static int x_unlock(sqlite3_file *f, int how)
{
    return REAL(f)->pMethods->xUnlock(REAL(f), how);
}

static int x_check_lock(sqlite3_file *f, int *out)
{
    return REAL(f)->pMethods->xCheckReservedLock(REAL(f), out);
}

static int x_control(sqlite3_file *f, int op, void *arg)
{
    return REAL(f)->pMethods->xFileControl(REAL(f), op, arg);
}

static int x_sector(sqlite3_file *f)
{
    return REAL(f)->pMethods->xSectorSize(REAL(f));
}

static int x_traits(sqlite3_file *f)
{
    return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f));
}

static int x_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return REAL(f)->pMethods->xShmMap(REAL(f), page, size, extend, out);
}

static int x_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    return REAL(f)->pMethods->xShmLock(REAL(f), at, n, flags);
}

static void x_shm_barrier(sqlite3_file *f)
{
    REAL(f)->pMethods->xShmBarrier(REAL(f));
}

static int x_shm_unmap(sqlite3_file *f, int remove)
{
    return REAL(f)->pMethods->xShmUnmap(REAL(f), remove);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = x_close,
    .xRead = x_read,
    .xWrite = x_write,
    .xTruncate = x_truncate,
    .xSync = x_sync,
    .xFileSize = x_file_size,
    .xLock = x_lock,
    .xUnlock = x_unlock,
    .xCheckReservedLock = x_check_lock,
    .xFileControl = x_control,
    .xSectorSize = x_sector,
    .xDeviceCharacteristics = x_traits,
    .xShmMap = x_shm_map,
    .xShmLock = x_shm_lock,
    .xShmBarrier = x_shm_barrier,
    .xShmUnmap = x_shm_unmap,
};

static int x_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out)
{
    struct file *file = mine(f);
    (void)vfs;
    file->disk = all.current;
    file->track = NULL;
    if (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL))
        file->track = &file->disk->files[flags & SQLITE_OPEN_WAL ? WAL : DB];
    file->base.pMethods = NULL;
    int rc = all.real->xOpen(all.real, name, file->real, flags, out);
    if (rc != SQLITE_OK)
        return rc;
    file->disk->refs++;
    file->base.pMethods = &methods;
    return rc;
}

int sim_disk_sync(int fd)
{
    struct stat s, wal;
    char path[PATH_SIZE + 16];
    struct sim_disk *d = all.current;
    sim_disk_path(d, file_names[WAL], path, sizeof path);
    if (fstat(fd, &s) == 0 && stat(path, &wal) == 0 && s.st_ino == wal.st_ino)
        synced(d, &d->files[WAL]);
    return 0;
}

/* --- disks
 * ------------------------------------------------------------------------------------------- */

void sim_disk_begin(const char *dir)
{
    snprintf(all.dir, sizeof all.dir, "%s", dir);
    all.real = sqlite3_vfs_find(NULL);
    all.vfs = *all.real;
    all.vfs.zName = "sim";
    all.vfs.szOsFile = (int)sizeof(struct file) + all.real->szOsFile;
    all.vfs.xOpen = x_open;
    int rc = sqlite3_vfs_register(&all.vfs, 1);
    assert(rc == SQLITE_OK);
    (void)rc;
}

static struct sim_disk *disk_new(void)
{
    struct sim_disk *d = xcalloc(1, sizeof *d);
    d->refs = 1;
    int n = snprintf(d->dir, sizeof d->dir, "%s/%d", all.dir, ++all.n_disks);
    assert(n > 0 && (size_t)n < sizeof d->dir);
    (void)n;
    if (mkdir(d->dir, 0700) < 0) {
        perror(d->dir);
        abort();
    }
    all.current = d;
    return d;
}

struct sim_disk *sim_disk_new(void)
{
    struct sim_disk *d = disk_new();
    for (int i = 0; i < N_FILES; i++) {
        char path[PATH_SIZE + 16];
        if (all.template[i])
            write_file(sim_disk_path(d, file_names[i], path, sizeof path), all.template[i],
                       all.template_n[i]);
    }
    return d;
}

void sim_disk_keep_template(const struct sim_disk *d)
{
    for (int i = 0; i < N_FILES; i++) {
        char path[PATH_SIZE + 16];
        all.template[i] =
            read_file(sim_disk_path(d, file_names[i], path, sizeof path), &all.template_n[i]);
    }
}

void sim_disk_free_template(void)
{
    for (int i = 0; i < N_FILES; i++)
        free(all.template[i]);
}

/* Takes the newest `n` writes back from what is at `path`. */
static void take_back(const char *path, const struct track *t, int n)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    for (const struct undo *u = t->newest; fd >= 0 && n > 0; u = u->older, n--) {
        bool ok = ftruncate(fd, u->old_size) == 0 &&
                  pwrite(fd, u->bytes, (size_t)u->n, u->at) == (ssize_t)u->n;
        if (!ok) {
            perror(path);
            abort();
        }
    }
    if (fd >= 0)
        close(fd);
}

struct sim_disk *sim_disk_crash(struct sim_disk *d, struct sim_time *t)
{
    struct sim_disk *left = disk_new();
    for (int i = 0; i < N_FILES; i++) {
        char from[PATH_SIZE + 16], to[PATH_SIZE + 16];
        size_t n;
        char *bytes = read_file(sim_disk_path(d, file_names[i], from, sizeof from), &n);
        if (!bytes)
            continue;
        write_file(sim_disk_path(left, file_names[i], to, sizeof to), bytes, n);
        free(bytes);
        struct track *track = &d->files[i];
        take_back(to, track,
                  track->n_undo - (track->n_undo > 0 ? sim_any(t, track->n_undo + 1) : 0));
        drop(track);
    }
    d->crashed = true;
    return left;
}

void sim_disk_free(struct sim_disk *d)
{
    d->crashed = true;
    unref(d);
}

void sim_disk_set_full(struct sim_disk *d, bool full)
{
    d->full = full;
}

void sim_disk_counts(const struct sim_disk *d, long *writes, long *syncs)
{
    *writes = d->writes;
    *syncs = d->syncs;
}
