/* SPDX-License-Identifier: MIT
 *
 * Opening and closing the database.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "storage/storage_priv.h"

/* busy_timeout: the checkpointer and a `sqlite3` shell someone left open hold locks for moments.
 * cache_size: 8 MB, filled only as pages are read. journal_size_limit: a WAL that once grew large
 * is cut to 64 MB when it starts over. */
static const char open_pragmas[] = "PRAGMA busy_timeout = 5000;"
                                   "PRAGMA journal_mode = WAL;"
                                   "PRAGMA synchronous = NORMAL;"
                                   "PRAGMA wal_autocheckpoint = 0;"
                                   "PRAGMA journal_size_limit = 67108864;"
                                   "PRAGMA foreign_keys = ON;"
                                   "PRAGMA trusted_schema = OFF;"
                                   "PRAGMA temp_store = MEMORY;"
                                   "PRAGMA cache_size = -8192;";

static int refuse_foreign(const char *path, const struct st_peek *p, struct err *e)
{
    if (!p->exists || (p->application_id == 0 && p->user_version == 0))
        return 0;
    if (p->application_id != ST_APPLICATION_ID)
        return err_set(e, ERR_CONFIG, NULL,
                       "%s is another program's database (application_id %u); name another file",
                       path, p->application_id);
    if (p->user_version > (uint32_t)st_schema_version())
        return err_set(e, ERR_SCHEMA_TOO_NEW, NULL,
                       "%s was written by a newer batchaid (schema %u; this one knows up to %d); "
                       "nothing was changed. Run that version, or restore an older backup",
                       path, p->user_version, st_schema_version());
    return 0;
}

/* Made beforehand so that nobody else can read it: SQLite gives the WAL the same mode. */
static int make_file(const char *path, struct err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(e, ERR_STORAGE, "cannot create the database %s", path);
    close(fd);
    return 0;
}

static int open_file(struct storage *st, const struct st_peek *file, struct err *e)
{
    if (!file->exists && make_file(st->path, e) < 0)
        return -1;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(st->path, &st->db, flags, NULL);
    if (rc != SQLITE_OK)
        return st_err_from_sqlite(st, rc, "open", e);
    sqlite3_db_config(st->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return st_exec(st, open_pragmas, "pragmas", e);
}

/* A new file's name is on disk once its directory is. */
static int sync_directory(const char *path, struct err *e)
{
    char *dir = xstrdup(path);
    char *slash = strrchr(dir, '/');
    if (slash)
        slash[slash == dir ? 1 : 0] = '\0';
    int fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd >= 0 && fsync(fd) == 0
                 ? 0
                 : err_errno(e, ERR_STORAGE, "cannot sync the directory of %s", path);
    if (fd >= 0)
        close(fd);
    free(dir);
    return rc;
}

static int open_wal(struct storage *st, struct err *e)
{
    struct arena a;
    arena_init(&a);
    const char *name = arena_printf(&a, "%s-wal", st->path);
    /* POSIX locks are dropped when any descriptor of a file closes; SQLite locks the database and
     * the -shm file, never the WAL, so this one is ours to open and close. */
    st->wal_fd = open(name, O_RDWR | O_CLOEXEC);
    int rc = st->wal_fd < 0 ? err_errno(e, ERR_STORAGE, "cannot open %s", name) : 0;
    arena_free(&a);
    return rc;
}

static int set_clean(struct storage *st, bool clean, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_META_SET_CLEAN, e) < 0)
        return -1;
    q_int(&q, clean);
    return q_run(&q, e);
}

/* Everything after the first look. The turn it leaves open is committed and synced at the first
 * turn end. */
static int bring_up(struct storage *st, const struct st_peek *file, struct err *e)
{
    if (open_file(st, file, e) < 0 || st_check(st, file, e) < 0 || st_migrate(st, e) < 0 ||
        st_prepare_all(st, e) < 0)
        return -1;
    st_checkpoint_watch(st);
    if (st_key_load(st, e) < 0 || set_clean(st, false, e) < 0 || open_wal(st, e) < 0)
        return -1;
    return file->exists ? 0 : sync_directory(st->path, e);
}

static void free_storage(struct storage *st)
{
    st_finalize_all(st);
    sqlite3_close(st->checkpointer);
    sqlite3_close(st->db);
    if (st->wal_fd >= 0)
        close(st->wal_fd);
    st_commit_free(st);
    sodium_memzero(st->key, sizeof st->key);
    free(st->path);
    free(st->key_path);
    free(st);
}

int st_open(const struct st_config *c, struct storage **out, struct err *e)
{
    struct st_peek file;
    if (st_peek(c->path, &file, e) < 0 || refuse_foreign(c->path, &file, e) < 0)
        return -1;
    struct storage *st = xcalloc(1, sizeof *st);
    st->path = xstrdup(c->path);
    st->key_path = xstrdup(c->key_path);
    st->loop = c->loop;
    st->log = c->log;
    st->wal_fd = -1;
    st->sync_fn = fdatasync;
    if (bring_up(st, &file, e) < 0) {
        free_storage(st);
        return -1;
    }
    *out = st;
    return 0;
}

/* --- close ----------------------------------------------------------------------------------- */

static void close_work(uv_work_t *w)
{
    struct storage *st = w->data;
    int rc = sqlite3_wal_checkpoint_v2(st->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    if (rc != SQLITE_OK) /* nothing is lost: the next open reads the WAL */
        LOG_WARN(st->log, "db.checkpoint_failed", LF_INT("sqlite", rc),
                 LF_STR("error", sqlite3_errmsg(st->db)));
}

static void close_done(uv_work_t *w, int status)
{
    struct storage *st = w->data;
    (void)status;
    void (*cb)(void *) = st->close_cb;
    void *ctx = st->close_ctx;
    free_storage(st);
    if (cb)
        cb(ctx);
}

/* The mark is the last write: it reaches the disk with or after everything before it. */
static void leave_mark(struct storage *st)
{
    struct err e;
    if (set_clean(st, true, &e) < 0)
        LOG_WARN(st->log, "db.close_unmarked", LF_STR("why", e.msg));
}

/* Callbacks may write more while the close is under way, so this goes round until none did. */
void st_close_step(struct storage *st)
{
    do
        st_turn_end(st);
    while (!st->syncing && (st->in_turn || st->turn.n > 0 || st->waiting.n > 0));
    if (st->syncing || st->checkpointing)
        return;
    st_finalize_all(st);
    st->close_work.data = st;
    int rc = uv_queue_work(st->loop, &st->close_work, close_work, close_done);
    assert(rc == 0);
    (void)rc;
}

void st_close(struct storage *st, void (*cb)(void *ctx), void *ctx)
{
    st->close_cb = cb;
    st->close_ctx = ctx;
    st->closing = true;
    leave_mark(st);
    st_close_step(st);
}
