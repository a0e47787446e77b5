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
#include "test/sim/sim_content.h"

#define PATH_SIZE    200
#define SHM_REGION   32768 /* what SQLite asks for */
#define REGIONS_MAX  8
#define INDEX_HEADER 136 /* of the first region: two copies, and what was checkpointed */

enum { DB, WAL, JOURNAL, N_FILES };
static const char *const endings[N_FILES] = {"db", "db-wal", "db-journal"};

struct sim_disk {
    bool full, crashed;
    struct content files[N_FILES];
    struct sim_file *open; /* those that are */
    int refs;              /* the owner and open files */
};

static struct {
    char dir[PATH_SIZE];
    ino_t wal_inode; /* of the real file */
    sqlite3_vfs vfs;
    struct sim_disk *current;
    struct content template;
    char *regions[REGIONS_MAX]; /* of the WAL's index, of the current disk */
} all;

struct sim_file {
    sqlite3_file base; /* first */
    struct sim_disk *disk;
    struct content *content;
    struct content own; /* of a file without a name */
    struct sim_file *next;
    int level;                  /* of its lock */
    unsigned shared, exclusive; /* locks of the WAL's index, by bit */
};

/* --- disks ------------------------------------------------------------------------------------ */

static struct sim_disk *disk_new(void)
{
    struct sim_disk *d = xcalloc(1, sizeof *d);
    d->refs = 1;
    d->files[DB].exists = true;
    return d;
}

static void unref(struct sim_disk *d)
{
    if (--d->refs > 0)
        return;
    for (int i = 0; i < N_FILES; i++)
        content_clear(&d->files[i]);
    free(d);
}

const char *sim_disk_path(const char *name, char *buf, int size)
{
    int n = snprintf(buf, (size_t)size, "%s/%s", all.dir, name);
    assert(n > 0 && n < size);
    (void)n;
    return buf;
}

/* Small pages: what is written is copied and summed by the page. */
static void begin_template(void)
{
    sqlite3 *db;
    char path[PATH_SIZE + 16];
    sim_disk_path(endings[DB], path, sizeof path);
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "PRAGMA page_size = 1024; VACUUM", NULL, NULL, NULL);
    sqlite3_close(db);
    if (rc != SQLITE_OK)
        fprintf(stderr, "sim: no template: %s\n", sqlite3_errstr(rc));
}

struct sim_disk *sim_disk_new(void)
{
    struct sim_disk *d = disk_new();
    all.current = d;
    if (all.template.exists)
        content_copy(&d->files[DB], &all.template);
    else
        begin_template();
    return d;
}

void sim_disk_use(struct sim_disk *d)
{
    all.current = d;
}

struct sim_disk *sim_disk_copy(const struct sim_disk *d)
{
    struct sim_disk *other = disk_new();
    for (int i = 0; i < N_FILES; i++)
        content_copy(&other->files[i], &d->files[i]);
    return other;
}

struct sim_disk *sim_disk_crash(struct sim_disk *d, struct sim_time *t)
{
    struct sim_disk *left = sim_disk_copy(d);
    for (int i = 0; i < N_FILES; i++) {
        struct content *c = &d->files[i];
        content_take_back(&left->files[i], c,
                          c->n_undo - (c->n_undo > 0 ? sim_any(t, c->n_undo + 1) : 0));
        content_synced(c);
    }
    d->crashed = true;
    return left;
}

void sim_disk_free(struct sim_disk *d)
{
    if (!d)
        return;
    d->crashed = true;
    unref(d);
}

void sim_disk_set_full(struct sim_disk *d, bool full)
{
    d->full = full;
}

/* --- SQLite's side: files --------------------------------------------------------------------- */

static struct sim_file *mine(sqlite3_file *f)
{
    return (struct sim_file *)(void *)f;
}

static void put_on(struct sim_file *f, struct sim_disk *d)
{
    f->disk = d;
    f->next = d->open;
    d->open = f;
    d->refs++;
}

static void take_off(struct sim_file *f)
{
    struct sim_file **at = &f->disk->open;
    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    unref(f->disk);
    f->disk = NULL;
}

static int x_close(sqlite3_file *base)
{
    struct sim_file *f = mine(base);
    content_clear(&f->own);
    if (f->disk) /* else it was taken off */
        take_off(f);
    return SQLITE_OK;
}

static int x_read(sqlite3_file *f, void *buf, int n, sqlite3_int64 at)
{
    const struct content *c = mine(f)->content;
    int64_t there = c->n > at ? c->n - at : 0;
    there = there < n ? there : n;
    if (there > 0)
        memcpy(buf, c->bytes + at, (size_t)there);
    memset((char *)buf + there, 0, (size_t)(n - there));
    return there == n ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

/* What a crash may take back: nothing of a file without a name, or after the crash. */
static void note(struct sim_file *f, int64_t at, int64_t n)
{
    if (!f->disk->crashed && f->content != &f->own)
        content_note(f->content, at, n);
}

static int x_write(sqlite3_file *base, const void *buf, int n, sqlite3_int64 at)
{
    struct sim_file *f = mine(base);
    struct content *c = f->content;
    if (f->disk->full && !f->disk->crashed && at + n > c->n)
        return SQLITE_FULL;
    note(f, at, n);
    int64_t end = c->n;
    if (at + n > end)
        content_resize(c, at + n);
    if (at > end)
        memset(c->bytes + end, 0, (size_t)(at - end));
    memcpy(c->bytes + at, buf, (size_t)n);
    return SQLITE_OK;
}

static int x_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct sim_file *f = mine(base);
    if (f->content->n > size) {
        note(f, size, f->content->n - size);
        content_resize(f->content, size);
    }
    return SQLITE_OK;
}

static int x_sync(sqlite3_file *f, int flags)
{
    (void)flags;
    content_synced(mine(f)->content);
    return SQLITE_OK;
}

static int x_file_size(sqlite3_file *f, sqlite3_int64 *size)
{
    *size = mine(f)->content->n;
    return SQLITE_OK;
}

static int x_control(sqlite3_file *f, int op, void *arg)
{
    (void)f, (void)op, (void)arg;
    return SQLITE_NOTFOUND;
}

static int x_sector(sqlite3_file *f)
{
    (void)f;
    return 4096;
}

static int x_traits(sqlite3_file *f)
{
    (void)f;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

/* --- SQLite's side: locks --------------------------------------------------------------------- */

/* Of the other connections to the database. */
static int highest_lock(const struct sim_file *f)
{
    int level = SQLITE_LOCK_NONE;
    for (const struct sim_file *o = f->disk->open; o; o = o->next)
        if (o != f && o->content == f->content && o->level > level)
            level = o->level;
    return level;
}

static int x_lock(sqlite3_file *base, int want)
{
    struct sim_file *f = mine(base);
    int other = highest_lock(f);
    int least = want == SQLITE_LOCK_SHARED     ? SQLITE_LOCK_PENDING
                : want == SQLITE_LOCK_RESERVED ? SQLITE_LOCK_RESERVED
                                               : SQLITE_LOCK_SHARED;
    if (f->level >= want)
        return SQLITE_OK;
    if (other >= least)
        return SQLITE_BUSY;
    f->level = want;
    return SQLITE_OK;
}

static int x_unlock(sqlite3_file *f, int to)
{
    mine(f)->level = to;
    return SQLITE_OK;
}

static int x_check_lock(sqlite3_file *f, int *out)
{
    *out = mine(f)->level >= SQLITE_LOCK_RESERVED || highest_lock(mine(f)) >= SQLITE_LOCK_RESERVED;
    return SQLITE_OK;
}

static int x_shm_map(sqlite3_file *f, int region, int size, int extend, void volatile **out)
{
    assert(region < REGIONS_MAX && size == SHM_REGION && mine(f)->disk == all.current);
    char **at = &all.regions[region];
    (void)f, (void)size;
    if (!*at && extend)
        *at = xcalloc(1, SHM_REGION);
    *out = *at;
    return SQLITE_OK;
}

static int x_shm_lock(sqlite3_file *base, int at, int n, int flags)
{
    struct sim_file *f = mine(base);
    unsigned bits = ((1U << n) - 1) << at;
    if (flags & SQLITE_SHM_UNLOCK) {
        f->shared &= ~bits;
        f->exclusive &= ~bits;
        return SQLITE_OK;
    }
    for (const struct sim_file *o = f->disk->open; o; o = o->next)
        if (o != f &&
            ((o->exclusive & bits) || (flags & SQLITE_SHM_EXCLUSIVE && (o->shared & bits))))
            return SQLITE_BUSY;
    *(flags & SQLITE_SHM_EXCLUSIVE ? &f->exclusive : &f->shared) |= bits;
    return SQLITE_OK;
}

static void x_shm_barrier(sqlite3_file *f)
{
    (void)f;
}

/* Without its header it counts for nothing: it is made anew of what the WAL holds. */
static void forget_index(void)
{
    if (all.regions[0])
        memset(all.regions[0], 0, INDEX_HEADER);
}

static int x_shm_unmap(sqlite3_file *base, int remove)
{
    struct sim_file *f = mine(base);
    f->shared = f->exclusive = 0;
    if (remove)
        forget_index();
    return SQLITE_OK;
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

/* --- SQLite's side: names. They are those of the current disk's files. ------------------------ */

static struct content *find(const char *name)
{
    for (int i = 0; i < N_FILES; i++)
        if (strcmp(name, endings[i]) == 0)
            return &all.current->files[i];
    return NULL;
}

static int x_full_name(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
    char path[PATH_SIZE + 16];
    (void)vfs;
    if (strcmp(name, sim_disk_path(endings[DB], path, sizeof path)) != 0)
        return SQLITE_CANTOPEN;
    return snprintf(out, (size_t)size, "%s", endings[DB]) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int x_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out)
{
    struct sim_file *f = mine(base);
    (void)vfs;
    *f = (struct sim_file){.content = name ? find(name) : &f->own};
    if (!f->content || (name && !f->content->exists && !(flags & SQLITE_OPEN_CREATE)))
        return SQLITE_CANTOPEN;
    f->content->exists = true;
    if (name && !all.current->open)
        forget_index();
    put_on(f, all.current);
    f->base.pMethods = &methods;
    if (out)
        *out = flags;
    return SQLITE_OK;
}

static int x_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
    struct content *c = find(name);
    (void)vfs, (void)sync_dir;
    if (!c || !c->exists)
        return SQLITE_IOERR_DELETE_NOENT;
    content_clear(c);
    return SQLITE_OK;
}

static int x_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
    const struct content *c = find(name);
    (void)vfs;
    /* As SQLite's own does: an empty file is none. */
    *out = c && c->exists && (flags != SQLITE_ACCESS_EXISTS || c->n > 0);
    return SQLITE_OK;
}

/* --- connections that go from disk to disk ---------------------------------------------------- */

/* Its database and its WAL. */
static void files_of(sqlite3 *db, struct sim_file *out[2])
{
    static const int which[2] = {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER};
    for (int i = 0; i < 2; i++) {
        sqlite3_file *f = NULL;
        int rc = sqlite3_file_control(db, "main", which[i], &f);
        assert(rc == SQLITE_OK && f && f->pMethods == &methods);
        (void)rc;
        out[i] = mine(f);
    }
}

void sim_disk_attach(sqlite3 *db)
{
    struct sim_file *files[2];
    files_of(db, files);
    if (!all.current->open)
        forget_index();
    for (int i = 0; i < 2; i++) {
        assert(!files[i]->disk);
        files[i]->content = &all.current->files[i];
        files[i]->content->exists = true;
        put_on(files[i], all.current);
    }
}

void sim_disk_detach(sqlite3 *db)
{
    struct sim_file *files[2];
    files_of(db, files);
    for (int i = 0; i < 2; i++) {
        assert(files[i]->content == &files[i]->disk->files[i]);
        assert(files[i]->shared == 0 && files[i]->exclusive == 0);
        files[i]->content = &files[i]->own;
        take_off(files[i]);
    }
}

/* --- the real files --------------------------------------------------------------------------- */

static void write_file(const char *name, const char *bytes, size_t n)
{
    char path[PATH_SIZE + 16];
    int fd = open(sim_disk_path(name, path, sizeof path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n) {
        perror(path);
        abort();
    }
    close(fd);
}

int sim_disk_sync(int fd)
{
    struct stat s;
    if (fstat(fd, &s) == 0 && s.st_ino == all.wal_inode)
        content_synced(&all.current->files[WAL]);
    return 0;
}

/* One thread, no statistics, and room for what a statement takes. */
static void configure(void)
{
    int rc = sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    if (rc == SQLITE_OK)
        rc = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (rc == SQLITE_OK)
        rc = sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 1200, 500);
    if (rc != SQLITE_OK)
        fprintf(stderr, "sim: SQLite cannot be configured: %s\n", sqlite3_errstr(rc));
}

void sim_disk_begin(const char *dir)
{
    configure();
    snprintf(all.dir, sizeof all.dir, "%s", dir);
    struct stat s;
    char path[PATH_SIZE + 16];
    write_file(endings[WAL], "", 0);
    if (stat(sim_disk_path(endings[WAL], path, sizeof path), &s) == 0)
        all.wal_inode = s.st_ino;
    all.vfs = *sqlite3_vfs_find(NULL);
    all.vfs.zName = "sim";
    all.vfs.szOsFile = (int)sizeof(struct sim_file);
    all.vfs.xOpen = x_open;
    all.vfs.xDelete = x_delete;
    all.vfs.xAccess = x_access;
    all.vfs.xFullPathname = x_full_name;
    int rc = sqlite3_vfs_register(&all.vfs, 1);
    assert(rc == SQLITE_OK);
    (void)rc;
}

void sim_disk_keep_template(const struct sim_disk *d)
{
    content_copy(&all.template, &d->files[DB]);
    write_file(endings[DB], all.template.bytes, (size_t)all.template.n);
}

void sim_disk_free_template(void)
{
    content_clear(&all.template);
}
