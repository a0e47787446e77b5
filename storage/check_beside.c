/* SPDX-License-Identifier: MIT
 *
 * The check of a large database after a crash (a second for 500 MB): on a separate thread with a
 * read-only connection, beside the work of the daemon. SQLite repairs the effects of a crash
 * itself, so no damage is expected; damage ends the process.
 *
 * During the check meta.clean_close is CLOSE_UNCHECKED. A database with this mark is checked before
 * it is used. So a damaged database is refused at the next start, and an interrupted check is
 * repeated.
 */
#include <assert.h>
#include <stdlib.h>

#include "lib/work.h"
#include "storage/storage_priv.h"

struct st_beside {
    struct storage *owner;
    /* path, log and a separate connection; owned by the thread until it ends */
    struct storage copy;
    struct loop *loop;
    struct loop_lane *lane;
    int64_t began_us;
    int rc;
    struct err why;
};

static void work(void *ctx)
{
    struct st_beside *b = ctx;
    b->rc = st_check_rows(&b->copy, &b->why);
}

static void finish(struct st_beside *b)
{
    struct storage *st = b->owner;
    struct err e;
    if (st->closing) /* the check was interrupted */
        return;
    if (b->rc < 0) {
        LOG_ERROR(st->log, "db.damaged", LF_STR("why", b->why.msg));
        work_give_up();
    }
    LOG_INFO(st->log, "db.checked", LF_INT("ms", (loop_mono_us(b->loop) - b->began_us) / 1000));
    if (st_set_clean(st, CLOSE_NONE, &e) < 0) /* the next start will check again */
        LOG_WARN(st->log, "db.check_not_marked", LF_STR("why", e.msg));
}

static void done(void *ctx, enum loop_work_end how)
{
    struct st_beside *b = ctx;
    struct storage *st = b->owner;
    assert(how == LOOP_WORK_DONE && st->beside == b);
    (void)how;
    st_sql_close(b->copy.db);
    loop_lane_close(b->lane, LOOP_LANE_FINISH, 0, NULL, NULL);
    finish(b);
    st->beside = NULL;
    free(b);
    if (st->closing)
        st->close_step(st);
}

int st_check_beside(struct storage *st, struct loop *loop, struct err *e)
{
    /* A log that writes nothing: finish() reports the result once. */
    static const struct log quiet = {.fd = -1, .level = LOG_LVL_ERROR};
    struct st_beside *b = xcalloc(1, sizeof *b);
    b->owner = st;
    b->loop = loop;
    b->began_us = loop_mono_us(loop);
    b->copy.path = st->path;
    b->copy.log = &quiet;
    int rc = st_sql_open(st->path, false, true, &b->copy.db);
    if (rc != 0) {
        st_err_from_sqlite(&b->copy, rc, "open", e);
        st_sql_close(b->copy.db);
        free(b);
        return -1;
    }
    b->lane = loop_lane_create(loop, "check", 1, 1);
    st->beside = b;
    if (!loop_work(b->lane, work, done, b)) { /* no thread can be started */
        work(b);
        done(b, LOOP_WORK_DONE);
    }
    return 0;
}

void st_check_beside_stop(struct storage *st)
{
    if (st->beside)
        st_sql_interrupt(st->beside->copy.db);
}
