/* SPDX-License-Identifier: MIT
 *
 * Opens the database (look, refuse, check, migrate, begin an epoch, load the key) and closes it:
 * turns are committed until none is left, then the last checkpoint runs, and the lanes close. An
 * interrupted close loses nothing: the next start reads the write-ahead log. Everything except the
 * checkpoint runs on the loop's thread.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "storage/storage_priv.h"

/* cache_size: 8 MB, filled only as pages are read. journal_size_limit: a long WAL is cut to 64 MB
 * when it starts over. */
static const char open_pragmas[] = "PRAGMA journal_mode = WAL;"
                                   "PRAGMA wal_autocheckpoint = 0;"
                                   "PRAGMA journal_size_limit = 67108864;"
                                   "PRAGMA foreign_keys = ON;"
                                   "PRAGMA trusted_schema = OFF;"
                                   "PRAGMA temp_store = MEMORY;"
                                   "PRAGMA cache_size = -8192;";

/* For an ephemeral database: no other process opens it, so there are no locks, and the rollback
 * journal is in memory. There is no WAL and no checkpoint. The file is mostly in memory too, so the
 * cache is small: reading a page again takes a microsecond. */
static const char passing_pragmas[] = "PRAGMA locking_mode = EXCLUSIVE;"
                                      "PRAGMA journal_mode = MEMORY;"
                                      "PRAGMA foreign_keys = ON;"
                                      "PRAGMA trusted_schema = OFF;"
                                      "PRAGMA temp_store = MEMORY;"
                                      "PRAGMA cache_size = -512;";

int st_refuse_foreign(const char *path, const struct st_peek *p, struct err *e)
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
    if (p->user_version <= ST_SCHEMA_BASE)
        return err_set(e, ERR_SCHEMA_TOO_OLD, NULL,
                       "%s was made by a version before 1.0.0 (schema %u), which this one cannot "
                       "read; nothing was changed. Begin with an empty state directory. For a "
                       "daemon for tests, `batchaid dump` of the old version makes a seed that "
                       "this version can load (`batchaid seed`)",
                       path, p->user_version);
    return 0;
}

/* Makes the file before SQLite does, so that only the owner can read it; SQLite copies this mode to
 * the WAL. */
static int make_file(const char *path, struct err *e)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_errno(e, ERR_STORAGE, "cannot create the database %s", path);
    close(fd);
    return 0;
}

static int open_db(struct storage *st, struct err *e)
{
    int rc = st_sql_open(st->path, true, !st->without_sync, &st->db);
    return rc == 0 ? 0 : st_err_from_sqlite(st, rc, "open", e);
}

/* Makes the file, if it is missing or empty. */
static int begin_file(struct storage *st, const struct st_peek *file, struct err *e)
{
    if (file->exists)
        return 0;
    int made = st_image_write(st->path, !st->without_sync, e);
    if (made > 0)
        LOG_INFO(st->log, "db.created", LF_INT("version", st_schema_version()));
    return made != 0 ? made : make_file(st->path, e);
}

static int open_file(struct storage *st, const struct st_peek *file, struct err *e)
{
    if (begin_file(st, file, e) < 0 || open_db(st, e) < 0)
        return -1;
    return st_exec(st, st->without_sync ? passing_pragmas : open_pragmas, "pragmas", e);
}

/* Syncs the directory, because the name of a new file is on disk only after that. */
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
    /* POSIX locks are dropped when any descriptor of the file is closed. SQLite locks the database
     * and the -shm file but never the WAL, so opening and closing the WAL here is safe. */
    st->wal_fd = open(name, O_RDWR | O_CLOEXEC);
    int rc = st->wal_fd < 0 ? err_errno(e, ERR_STORAGE, "cannot open %s", name) : 0;
    arena_free(&a);
    return rc;
}

/* --- epochs ---------------------------------------------------------------------------------- */

/* A new epoch for each start of the daemon. A term is the time in seconds, or the previous term
 * plus one if that is larger. So terms grow with each start, and stay above the terms that agents
 * know even after a restored backup: agents refuse a daemon with a lower term. The random part
 * distinguishes two starts within one second. */

const struct st_counters *st_counters(const struct storage *st)
{
    return &st->counters;
}

const struct epoch *st_epoch(const struct storage *st)
{
    return &st->epoch;
}

static int read_term(struct storage *st, struct err *e)
{
    struct arena a;
    struct epoch row;
    arena_init(&a);
    int rc = st_epoch_row(st, &a, &row, e);
    if (rc == 1)
        st->epoch.term = row.term;
    arena_free(&a);
    snprintf(st->epoch_text, sizeof st->epoch_text, "%lld.%s", (long long)st->epoch.term,
             st->random);
    st->epoch.text = st->epoch_text;
    return rc == 1 ? 0 : -1;
}

/* Runs once in the life of a daemon, outside of any turn, and waits for the sync. Before the sync a
 * crash could repeat the epoch, so nothing may be sent to a node, not even the epoch. */
static int begin_epoch(struct storage *st, const char *random, int64_t now_us, struct err *e)
{
    char sql[250];
    const char *usual = st->without_sync ? "OFF" : "NORMAL";
    if (random)
        snprintf(st->random, sizeof st->random, "%s", random);
    else
        snprintf(st->random, sizeof st->random, "%08x", (unsigned)randombytes_random());
    assert(strspn(st->random, "0123456789abcdef") == strlen(st->random));
    st->epoch.random = st->random;
    snprintf(sql, sizeof sql,
             "PRAGMA synchronous = %s;"
             "UPDATE epoch SET term = max(term + 1, %lld), random = '%s', started_us = %lld;"
             "PRAGMA synchronous = %s",
             st->without_sync ? usual : "FULL", (long long)(now_us / 1000000), st->random,
             (long long)now_us, usual);
    if (st_exec(st, sql, "epoch", e) < 0)
        return -1;
    return read_term(st, e);
}

/* --- open ------------------------------------------------------------------------------------ */

static int check_and_migrate(struct storage *st, const struct st_peek *file, bool *beside,
                             struct err *e)
{
    st_sql_say(st, "checking the database");
    int rc = st_check(st, file, beside, e);
    st_sql_say(st, NULL);
    return rc < 0 ? -1 : st_migrate(st, e);
}

/* Does all steps after peeking at the file. It leaves a turn open, which is committed and synced at
 * the first turn end. */
static int bring_up(struct storage *st, const struct st_config *c, const struct st_peek *file,
                    struct err *e)
{
    /* A migration needs an intact database. */
    bool beside = false, current = file->user_version == (uint32_t)st_schema_version();
    if (open_file(st, file, e) < 0 ||
        check_and_migrate(st, file, current ? &beside : NULL, e) < 0 ||
        st_prepare_control(st, e) < 0 || begin_epoch(st, c->random, loop_wall_us(c->loop), e) < 0)
        return -1;
    if (!file->exists && !st->without_sync && sync_directory(st->path, e) < 0)
        return -1;
    st_sql_watch(st, st_checkpoint_frames);
    if (st_events_begin(st, e) < 0 || st_key_load(st, e) < 0 ||
        st_set_clean(st, beside ? CLOSE_UNCHECKED : CLOSE_NONE, e) < 0 ||
        (!st->without_sync && open_wal(st, e) < 0))
        return -1;
    return beside ? st_check_beside(st, c->loop, e) : 0;
}

static void free_storage(struct storage *st)
{
    /* no thread uses the storage any more */
    assert(!st->syncing && !st->checkpointing && !st->beside);
    st_finalize_all(st);
    st_sql_close(st->checkpointer);
    st_sql_close(st->db);
    if (st->wal_fd >= 0)
        close(st->wal_fd);
    st_commit_free(st);
    st_known_free(st);
    st_used_free(st);
    sodium_memzero(st->key, sizeof st->key);
    free(st->path);
    free(st->key_path);
    free(st);
}

/* A key is made after its database is on disk (bring_up). So a key without a database means that
 * the database was lost. A daemon with a new database would end all tasks on the nodes as
 * leftovers. */
static int refuse_lost(const struct st_config *c, const struct st_peek *file, struct err *e)
{
    if (file->exists || access(c->key_path, F_OK) != 0)
        return 0;
    return err_set(e, ERR_CONFIG, NULL,
                   "the database %s is missing or empty, but the key %s belongs to a database: "
                   "restore it (batchaid restore FILE), or move the key away to begin without data",
                   c->path, c->key_path);
}

int st_check_copy(const char *path, const char *key_path, struct err *e)
{
    static const struct log quiet = {.fd = STDERR_FILENO, .level = LOG_LVL_ERROR};
    struct st_peek file;
    if (st_peek(path, &file, e) < 0)
        return -1;
    struct storage *st = xcalloc(1, sizeof *st);
    st_known_init(st);
    st->path = xstrdup(path);
    st->key_path = xstrdup(key_path);
    st->log = &quiet;
    st->wal_fd = -1;
    /* always check: the copy's mark does not show whether it was copied intact */
    st->large_bytes = INT64_MAX;
    int rc = open_db(st, e);
    if (rc == 0)
        rc = st_check(st, &file, NULL, e);
    if (rc == 0)
        rc = st_key_check(st, e);
    free_storage(st);
    return rc;
}

int st_open(const struct st_config *c, struct storage **out, struct err *e)
{
    struct st_peek file;
    if (st_peek(c->path, &file, e) < 0 || st_refuse_foreign(c->path, &file, e) < 0 ||
        refuse_lost(c, &file, e) < 0)
        return -1;
    struct storage *st = xcalloc(1, sizeof *st);
    st_known_init(st);
    st->path = xstrdup(c->path);
    st->key_path = xstrdup(c->key_path);
    st->log = c->log;
    st->told = c->told;
    st->wal_fd = -1;
    st->without_sync = c->without_sync;
    st->large_bytes = c->large_bytes;
    st->opened_ms = loop_wall_us(c->loop) / 1000;
    st->sync_fn = fdatasync;
    if (bring_up(st, c, &file, e) < 0) {
        free_storage(st);
        return -1;
    }
    st->told = NULL;
    st_lanes_open(st, c->loop);
    *out = st;
    return 0;
}

/* --- close ----------------------------------------------------------------------------------- */

static void close_work(void *ctx)
{
    struct storage *st = ctx;
    int rc = st_sql_checkpoint(st->db, true, NULL, NULL);
    if (rc != 0) /* nothing is lost: the next open reads the WAL */
        LOG_WARN(st->log, "db.checkpoint_failed", LF_INT("sqlite", rc),
                 LF_STR("why", st_sql_error(st)));
}

static void all_closed(void *ctx)
{
    struct storage *st = ctx;
    void (*cb)(void *) = st->close_cb;
    void *cb_ctx = st->close_ctx;
    free_storage(st);
    if (cb)
        cb(cb_ctx);
}

static void sync_lane_closed(void *ctx)
{
    struct storage *st = ctx;
    loop_lane_close(st->checkpoint_lane, LOOP_LANE_FINISH, 0, all_closed, st);
}

static void close_done(void *ctx, enum loop_work_end how)
{
    struct storage *st = ctx;
    assert(how == LOOP_WORK_DONE);
    (void)how;
    loop_lane_close(st->sync_lane, LOOP_LANE_FINISH, 0, sync_lane_closed, st);
}

/* The mark is the last write, so it reaches the disk with or after all other writes. */
static void leave_mark(struct storage *st)
{
    struct err e;
    if (st->beside) /* the mark stays CLOSE_UNCHECKED */
        st_check_beside_stop(st);
    else if (st_set_clean(st, CLOSE_IN_ORDER, &e) < 0)
        LOG_WARN(st->log, "db.close_not_marked", LF_STR("why", e.msg));
}

/* Takes the next step of the close. Callbacks may write more meanwhile, so turns are ended until no
 * callback writes. */
static void close_step(struct storage *st)
{
    do
        st_turn_end(st);
    while (!st->syncing && (st->in_turn || st->turn.n > 0 || st->waiting.n > 0));
    if (st->syncing || st->checkpointing || st->beside)
        return;
    st_finalize_all(st);
    st_lane_work(st->checkpoint_lane, close_work, close_done, st);
}

void st_close(struct storage *st, void (*cb)(void *ctx), void *ctx)
{
    assert(!st->closing);
    st->close_cb = cb;
    st->close_ctx = ctx;
    st->closing = true;
    st->close_step = close_step;
    st->changes_due = false; /* nobody reads changes any more */
    leave_mark(st);
    close_step(st);
}
