/* SPDX-License-Identifier: MIT
 *
 * Moves the WAL into the database, on a separate thread and a second connection, so that the loop
 * never waits for it. PASSIVE blocks neither readers nor the writer. Under a steady stream of
 * commits a PASSIVE checkpoint never reaches the end of the WAL, and the WAL can never start over.
 * So when the WAL is long, checkpoints follow each other at once, and each handles only the frames
 * that were written during the previous one. The last few frames are moved on the loop thread,
 * between two turns.
 *
 * When the disk is full, the WAL itself may be the cause: it keeps its size when it starts over,
 * and it cannot grow up to the next checkpoint. So it is moved at once, however short it is, and
 * cut.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/work.h"
#include "storage/seeding.h"
#include "storage/storage_priv.h"

/* 4 MB of WAL: large enough that a page that is written often is moved once, small enough to stay
 * in the page cache. */
#define CHECKPOINT_FRAMES 1000
#define LONG_WAL_FRAMES   (8 * CHECKPOINT_FRAMES)
/* The most frames that are left to the loop, if the disk is fast enough to get down to this number
 * in ROUNDS_MAX rounds. */
#define REST_FRAMES 32
#define ROUNDS_MAX  4

/* ---- the threads of storage ---- */

/* Each lane runs one piece of work at a time. */
void st_lanes_open(struct storage *st, struct loop *loop)
{
    st->sync_lane = loop_lane_create(loop, "sync", 1, 1);
    st->checkpoint_lane = loop_lane_create(loop, "checkpoint", 1, 1);
}

void st_lane_work(struct loop_lane *lane, loop_fn work, loop_work_done done, struct storage *st)
{
    if (loop_work(lane, work, done, st))
        return;
    /* If no thread can be started, no write can be acknowledged any more. */
    LOG_ERROR(st->log, "db.thread_not_started", LF_STR("why", strerror(errno)));
    work_give_up();
}

/* ---- checkpoints ---- */

void st_checkpoint_frames(struct storage *st, int frames)
{
    if (frames < st->wal_frames)
        st->checkpoint_frames = 0; /* the WAL started over */
    st->wal_frames = frames;
}

static int open_checkpointer(struct storage *st)
{
    if (st->checkpointer)
        return 0;
    int rc = st_sql_open(st->path, true, !st->without_sync, &st->checkpointer);
    if (rc != 0) {
        st_sql_close(st->checkpointer);
        st->checkpointer = NULL;
    }
    return rc;
}

static void checkpoint_work(void *ctx)
{
    struct storage *st = ctx;
    st->checkpoint_log = st->checkpoint_done = 0;
    st->checkpoint_rc = open_checkpointer(st);
    if (st->checkpoint_rc == 0)
        st->checkpoint_rc =
            st_sql_checkpoint(st->checkpointer, false, &st->checkpoint_log, &st->checkpoint_done);
}

static void checkpoint_start(struct storage *st);

/* Begins another round, or leaves the last frames to the loop. */
static void catch_up(struct storage *st)
{
    if (st->wal_frames - st->checkpoint_frames > REST_FRAMES &&
        ++st->checkpoint_rounds < ROUNDS_MAX && !st->closing)
        checkpoint_start(st);
    else
        st->finish_checkpoint = true;
}

/* Logs a failed checkpoint. Nothing is lost: the WAL grows, and the next sync tries again. A busy
 * database is not a failure: another connection is moving pages, or this connection read the head
 * of the WAL while it changed. */
static void not_moved(struct storage *st, int rc)
{
    if (st_sql_is_busy(rc))
        LOG_DEBUG(st->log, "db.checkpoint_postponed", LF_INT("frames", st->wal_frames));
    else
        LOG_WARN(st->log, "db.checkpoint_failed", LF_INT("sqlite", rc),
                 LF_STR("why", st_sql_text(rc)));
}

static void checkpoint_done(void *ctx, enum loop_work_end how)
{
    struct storage *st = ctx;
    assert(st->checkpointing && how == LOOP_WORK_DONE); /* the lane is closed after the last */
    (void)how;
    st->checkpointing = false;
    if (st->checkpoint_rc == 0) {
        st->checkpoint_frames = st->checkpoint_done;
        st->counters.checkpoints++;
        LOG_DEBUG(st->log, "db.checkpointed", LF_INT("frames", st->checkpoint_done),
                  LF_INT("frames_total", st->checkpoint_log));
        if (st->checkpoint_log >= LONG_WAL_FRAMES || st->sheds_wal)
            catch_up(st);
    } else {
        st->sheds_wal = false; /* until the next write finds the disk full */
        not_moved(st, st->checkpoint_rc);
    }
    if (st->closing)
        st->close_step(st);
}

static void checkpoint_start(struct storage *st)
{
    assert(!st->checkpointing);
    st->checkpointing = true;
    st_lane_work(st->checkpoint_lane, checkpoint_work, checkpoint_done, st);
}

void st_checkpoint_maybe(struct storage *st)
{
    if (st->closing || st->checkpointing || st->finish_checkpoint ||
        st->wal_frames - st->checkpoint_frames < CHECKPOINT_FRAMES)
        return;
    st->checkpoint_rounds = 0;
    checkpoint_start(st);
}

void st_shed_wal(struct storage *st)
{
    st->disk_full = false;
    if (st->closing || !st->checkpoint_lane || st->wal_fd < 0)
        return;
    st->sheds_wal = true;
    if (st->checkpointing || st->finish_checkpoint)
        return;
    st->checkpoint_rounds = 0;
    checkpoint_start(st);
}

static void cut_wal(struct storage *st)
{
    int rc = st_sql_cut_wal(st->db);
    st->sheds_wal = false;
    if (rc == 0)
        st->wal_frames = st->checkpoint_frames = 0;
    else
        not_moved(st, rc);
}

void st_checkpoint_rest(struct storage *st)
{
    assert(!st->in_turn);
    if (st->checkpointing)
        return;
    st->finish_checkpoint = false;
    if (st->sheds_wal) {
        cut_wal(st);
        return;
    }
    if (st->wal_frames < LONG_WAL_FRAMES) /* the WAL has started over since */
        return;
    int log = 0, done = 0;
    int rc = st_sql_checkpoint(st->db, false, &log, &done);
    if (rc == 0)
        st->checkpoint_frames = done;
    else
        not_moved(st, rc);
}

/* ---- room on the disk that is kept for later ---- */

/* Reserves space on disk in a file without a name, so that the file disappears however the daemon
 * ends. */
int st_room_keep(struct storage *st, int64_t bytes, int *fd, struct err *e)
{
    char *dir = fs_folder(st->path);
    int rc = 0;
    *fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    /* Not posix_fallocate(): it writes each block if the file system cannot allocate at once. */
    if (*fd >= 0 && fallocate(*fd, 0, 0, (off_t)bytes) < 0) {
        int why = errno;
        if (why == ENOSPC || why == EDQUOT)
            st_shed_wal(st);
        if (why != EOPNOTSUPP)
            rc = err_set(
                e, ERR_STORAGE, NULL,
                "The disk that holds the database has no room for this (%lld MiB more): %s.",
                (long long)(bytes >> 20) + 1, strerror(why));
        close(*fd);
        *fd = -1;
    }
    free(dir);
    return rc;
}
