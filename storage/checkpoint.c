/* SPDX-License-Identifier: MIT
 *
 * Moving the WAL into the database, on the pool over a second connection, so that the loop never
 * waits for it. PASSIVE blocks neither readers nor the writer. Under a steady stream of commits it
 * never sees the end of the WAL, which then could not start over: once the WAL is long, the few
 * frames a checkpoint left are moved on the loop thread, between two turns.
 */
#include <assert.h>

#include "storage/storage_priv.h"

/* 4 MB of WAL: large enough that a page written often is moved once, small enough to stay in the
 * page cache. */
#define CHECKPOINT_FRAMES 1000
#define LONG_WAL_FRAMES   (8 * CHECKPOINT_FRAMES)

static int on_commit(void *ctx, sqlite3 *db, const char *schema, int frames)
{
    struct storage *st = ctx;
    (void)db;
    (void)schema;
    if (frames < st->wal_frames)
        st->checkpoint_frames = 0; /* the WAL started over */
    st->wal_frames = frames;
    return SQLITE_OK;
}

void st_checkpoint_watch(struct storage *st)
{
    sqlite3_wal_hook(st->db, on_commit, st);
}

static int open_checkpointer(struct storage *st)
{
    if (st->checkpointer)
        return SQLITE_OK;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(st->path, &st->checkpointer, flags, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(st->checkpointer, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        sqlite3_close(st->checkpointer);
        st->checkpointer = NULL;
    }
    return rc;
}

static void checkpoint_work(uv_work_t *w)
{
    struct storage *st = w->data;
    st->checkpoint_log = st->checkpoint_done = 0;
    st->checkpoint_rc = open_checkpointer(st);
    if (st->checkpoint_rc == SQLITE_OK)
        st->checkpoint_rc =
            sqlite3_wal_checkpoint_v2(st->checkpointer, NULL, SQLITE_CHECKPOINT_PASSIVE,
                                      &st->checkpoint_log, &st->checkpoint_done);
}

static void checkpoint_done(uv_work_t *w, int status)
{
    struct storage *st = w->data;
    (void)status;
    st->checkpointing = false;
    if (st->checkpoint_rc == SQLITE_OK) {
        st->checkpoint_frames = st->checkpoint_done;
        st->finish_checkpoint = st->checkpoint_log >= LONG_WAL_FRAMES;
        LOG_DEBUG(st->log, "db.checkpointed", LF_INT("frames", st->checkpoint_done),
                  LF_INT("of", st->checkpoint_log));
    } else {
        /* Nothing is lost: the WAL grows and the next sync tries again. */
        LOG_WARN(st->log, "db.checkpoint_failed", LF_INT("sqlite", st->checkpoint_rc),
                 LF_STR("error", sqlite3_errstr(st->checkpoint_rc)));
    }
    if (st->closing)
        st_close_step(st);
}

void st_checkpoint_maybe(struct storage *st)
{
    if (st->closing || st->checkpointing ||
        st->wal_frames - st->checkpoint_frames < CHECKPOINT_FRAMES)
        return;
    st->checkpointing = true;
    st->checkpoint_work.data = st;
    int rc = uv_queue_work(st->loop, &st->checkpoint_work, checkpoint_work, checkpoint_done);
    assert(rc == 0);
    (void)rc;
}

void st_checkpoint_rest(struct storage *st)
{
    assert(!st->in_turn);
    if (st->checkpointing)
        return;
    st->finish_checkpoint = false;
    int log = 0, done = 0;
    int rc = sqlite3_wal_checkpoint_v2(st->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &log, &done);
    if (rc == SQLITE_OK)
        st->checkpoint_frames = done;
    else
        LOG_WARN(st->log, "db.checkpoint_failed", LF_INT("sqlite", rc),
                 LF_STR("error", sqlite3_errstr(rc)));
}
