/* SPDX-License-Identifier: MIT
 *
 * Turns, savepoints, durability: when callbacks run, in which order, and what a crash or a full
 * disk leaves behind.
 */
#include <sqlite3.h>

#include "test/unit/storage/fixture.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* --- callbacks and the sync ------------------------------------------------------------------ */

static uv_sem_t gate;    /* the sync waits for it */
static atomic_int syncs; /* syncs that are through */

static int gated_sync(int fd)
{
    uv_sem_wait(&gate);
    int rc = fdatasync(fd);
    atomic_fetch_add(&syncs, 1);
    return rc;
}

static int start_gated(void **state)
{
    fx_start(state);
    struct fx *f = *state;
    fx_flush(f);
    uv_sem_init(&gate, 0);
    atomic_store(&syncs, 0);
    f->st->sync_fn = gated_sync;
    return 0;
}

static int end_gated(void **state)
{
    struct fx *f = *state;
    f->st->sync_fn = fdatasync;
    int rc = fx_end(state);
    uv_sem_destroy(&gate);
    return rc;
}

struct trace {
    int n, order[8], syncs_at[8];
    bool failed[8];
};
struct mark {
    struct trace *t;
    int id;
};

static void on_durable(void *ctx, const struct err *why)
{
    struct mark *m = ctx;
    m->t->order[m->t->n] = m->id;
    m->t->failed[m->t->n] = why != NULL;
    m->t->syncs_at[m->t->n++] = atomic_load(&syncs);
}

static void run_until_n(struct fx *f, const struct trace *t, int n)
{
    while (t->n < n)
        uv_run(&f->loop, UV_RUN_ONCE);
}

#define GATED_TEST(name) TEST_IN(name, struct fx *f, *state, start_gated, end_gated)

GATED_TEST(test_callback_waits_for_the_sync)
{
    struct trace t = {0};
    struct mark m[4] = {{&t, 0}, {&t, 1}, {&t, 2}, {&t, 3}};
    fx_add_job(f, "a");
    assert_true(st_has_pending(f->st));
    st_when_durable(f->st, on_durable, &m[0]);
    st_when_durable(f->st, on_durable, &m[1]);
    st_turn_end(f->st);
    /* The second turn commits while the first one's sync is under way; it needs its own. */
    fx_add_job(f, "b");
    st_when_durable(f->st, on_durable, &m[2]);
    st_turn_end(f->st);
    /* A turn that wrote nothing still waits for what came before it. */
    st_when_durable(f->st, on_durable, &m[3]);
    st_turn_end(f->st);
    uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_int_equal(t.n, 0);
    assert_true(st_has_pending(f->st));
    uv_sem_post(&gate);
    run_until_n(f, &t, 2);
    assert_int_equal(t.n, 2);
    uv_sem_post(&gate);
    run_until_n(f, &t, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(t.order[i], i);
        assert_false(t.failed[i]);
        assert_int_equal(t.syncs_at[i], i < 2 ? 1 : 2);
    }
    assert_false(st_has_pending(f->st));
}

GATED_TEST(test_nothing_pending_runs_at_turn_end)
{
    struct trace t = {0};
    struct mark m = {&t, 7};
    st_when_durable(f->st, on_durable, &m);
    assert_int_equal(t.n, 0);
    st_turn_end(f->st);
    assert_int_equal(t.n, 1);
    assert_int_equal(atomic_load(&syncs), 0);
}

struct again {
    struct fx *f;
    struct fx_flushed second;
};

static void write_again(void *ctx, const struct err *why)
{
    struct again *g = ctx;
    assert_null(why);
    fx_add_job(g->f, "from a callback");
    st_when_durable(g->f->st, fx_on_flushed, &g->second);
}

DB_TEST(test_a_callback_may_write)
{
    struct again g = {.f = f};
    fx_add_job(f, "first");
    st_when_durable(f->st, write_again, &g);
    st_turn_end(f->st);
    while (!g.second.done) {
        uv_run(&f->loop, UV_RUN_ONCE);
        st_turn_end(f->st);
    }
    assert_false(g.second.failed);
    struct job j;
    found(f, st_job_get(f->st, &f->a, f->experiment, "from a callback", &j, &f->e));
}

DB_TEST(test_close_waits_for_all)
{
    struct again g = {.f = f};
    fx_add_job(f, "first");
    st_when_durable(f->st, write_again, &g);
    fx_close(f);
    assert_true(g.second.done);
    fx_open(f);
    struct job j;
    found(f, st_job_get(f->st, &f->a, f->experiment, "from a callback", &j, &f->e));
}

/* --- savepoints ------------------------------------------------------------------------------ */

static int add_then_fail(struct storage *st, void *ctx, struct err *e)
{
    (void)st;
    fx_add_job(ctx, "undone");
    return err_set(e, ERR_QUOTA, NULL, "no");
}

static int add_nested(struct storage *st, void *ctx, struct err *e)
{
    struct err inner;
    fx_add_job(ctx, "outer");
    assert_int_equal(st_tx(st, "inner", add_then_fail, ctx, &inner), -1);
    (void)e;
    return 0;
}

DB_TEST(test_savepoint)
{
    struct job j;
    fx_add_job(f, "before");
    refused(f, st_tx(f->st, "t", add_then_fail, f, &f->e), ERR_QUOTA);
    ok(f, st_tx(f->st, "t", add_nested, f, &f->e));
    fx_add_job(f, "after");
    assert_false(fx_flush(f).failed);
    fx_reopen(f);
    found(f, st_job_get(f->st, &f->a, f->experiment, "before", &j, &f->e));
    found(f, st_job_get(f->st, &f->a, f->experiment, "outer", &j, &f->e));
    found(f, st_job_get(f->st, &f->a, f->experiment, "after", &j, &f->e));
    assert_int_equal(st_job_get(f->st, &f->a, f->experiment, "undone", &j, &f->e), 0);
}

/* --- parts without a savepoint ---------------------------------------------------------------- */

static int fail_at_once(struct storage *st, void *ctx, struct err *e)
{
    (void)st;
    (void)ctx;
    return err_set(e, ERR_QUOTA, NULL, "no");
}

static int add_one(struct storage *st, void *ctx, struct err *e)
{
    (void)st;
    (void)e;
    fx_add_job(ctx, "whole");
    return 0;
}

DB_TEST(test_whole_that_wrote_nothing_fails_alone)
{
    struct job j;
    fx_add_job(f, "before");
    refused(f, st_whole(f->st, fail_at_once, f, &f->e), ERR_QUOTA);
    ok(f, st_whole(f->st, add_one, f, &f->e));
    assert_false(fx_flush(f).failed);
    fx_reopen(f);
    found(f, st_job_get(f->st, &f->a, f->experiment, "before", &j, &f->e));
    found(f, st_job_get(f->st, &f->a, f->experiment, "whole", &j, &f->e));
}

DB_TEST(test_whole_that_wrote_takes_its_turn_along)
{
    struct job j;
    assert_false(fx_flush(f).failed);
    fx_add_job(f, "before");
    refused(f, st_whole(f->st, add_then_fail, f, &f->e), ERR_QUOTA);
    assert_int_equal(st_whole(f->st, add_one, f, &f->e), -1);
    assert_true(fx_flush(f).failed);
    assert_int_equal(st_job_get(f->st, &f->a, f->experiment, "before", &j, &f->e), 0);
    assert_int_equal(st_job_get(f->st, &f->a, f->experiment, "undone", &j, &f->e), 0);
    ok(f, st_whole(f->st, add_one, f, &f->e));
    assert_false(fx_flush(f).failed);
    fx_reopen(f);
    found(f, st_job_get(f->st, &f->a, f->experiment, "whole", &j, &f->e));
    assert_int_equal(st_job_get(f->st, &f->a, f->experiment, "before", &j, &f->e), 0);
}

/* --- a full disk ----------------------------------------------------------------------------- */

static void limit_file_size(rlim_t bytes)
{
    struct rlimit r;
    getrlimit(RLIMIT_FSIZE, &r);
    r.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

/* Writes beyond the limit fail like writes to a full disk: in the COMMIT, where the WAL grows. */
DB_TEST(test_failed_commit)
{
    signal(SIGXFSZ, SIG_IGN);
    fx_flush(f);
    int64_t kept = fx_add_job(f, "kept");
    assert_false(fx_flush(f).failed);

    struct trace t = {0};
    struct mark m[2] = {{&t, 0}, {&t, 1}};
    fx_add_job(f, "lost");
    st_when_durable(f->st, on_durable, &m[0]);
    st_when_durable(f->st, on_durable, &m[1]);
    limit_file_size(4096);
    st_turn_end(f->st);
    run_until_n(f, &t, 2);
    limit_file_size(RLIM_INFINITY);
    assert_true(t.failed[0] && t.failed[1]);
    assert_int_equal(t.order[0], 0);

    struct job j;
    assert_int_equal(st_job_get(f->st, &f->a, f->experiment, "lost", &j, &f->e), 0);
    found(f, st_job_by_id(f->st, &f->a, kept, &j, &f->e));
    fx_add_job(f, "later");
    assert_false(fx_flush(f).failed);
    fx_reopen(f);
    found(f, st_job_get(f->st, &f->a, f->experiment, "later", &j, &f->e));
    assert_int_equal(st_job_get(f->st, &f->a, f->experiment, "lost", &j, &f->e), 0);
}

GATED_TEST(test_failed_commit_says_why_in_order)
{
    signal(SIGXFSZ, SIG_IGN);
    struct trace t = {0};
    struct mark m[3] = {{&t, 0}, {&t, 1}, {&t, 2}};
    fx_add_job(f, "kept");
    st_when_durable(f->st, on_durable, &m[0]);
    st_turn_end(f->st); /* its sync waits at the gate */
    fx_add_job(f, "lost");
    st_when_durable(f->st, on_durable, &m[1]);
    limit_file_size(4096);
    st_turn_end(f->st);
    limit_file_size(RLIM_INFINITY);
    fx_add_job(f, "later");
    st_when_durable(f->st, on_durable, &m[2]);
    st_turn_end(f->st);
    assert_int_equal(t.n, 0);
    uv_sem_post(&gate);
    uv_sem_post(&gate);
    run_until_n(f, &t, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(t.order[i], i);
        assert_int_equal(t.failed[i], i == 1);
    }
}

/* A write that no longer fits fails by itself; what SQLite leaves of the turn is either committed
 * with success or lost with a reason, and the process goes on. */
DB_TEST(test_full_database)
{
    fx_flush(f);
    assert_int_equal(sqlite3_exec(f->st->db, "PRAGMA max_page_count = 1", NULL, NULL, NULL),
                     SQLITE_OK); /* no smaller than it is: not a page more */
    static char big[200000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    struct job j = fx_job(f, "big");
    j.doc = big;
    int64_t id, small = fx_add_job(f, "small");
    refused_saying(f, st_job_insert(f->st, &j, NULL, &id, &f->e), ERR_STORAGE, "full");
    struct fx_flushed w = fx_flush(f);
    int there = st_job_by_id(f->st, &f->a, small, &j, &f->e);
    assert_int_equal(there, w.failed ? 0 : 1);
    assert_int_equal(st_job_get(f->st, &f->a, f->experiment, "big", &j, &f->e), 0);
    assert_int_equal(sqlite3_exec(f->st->db, "PRAGMA max_page_count = 1000000", NULL, NULL, NULL),
                     SQLITE_OK);
    j = fx_job(f, "big");
    j.doc = big;
    ok(f, st_job_insert(f->st, &j, NULL, &id, &f->e));
    assert_false(fx_flush(f).failed);
}

/* When SQLite itself gave up the transaction, the rest of the turn must not look written. */
DB_TEST(test_turn_rolled_back_by_sqlite)
{
    fx_flush(f);
    fx_add_job(f, "lost");
    assert_int_equal(sqlite3_exec(f->st->db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    st_err_from_sqlite(f->st, SQLITE_FULL, "test", &f->e);
    struct job j = fx_job(f, "after");
    int64_t id;
    refused(f, st_job_insert(f->st, &j, NULL, &id, &f->e), ERR_STORAGE);
    struct fx_flushed w = fx_flush(f);
    assert_true(w.failed);
    assert_says(w.why.msg, "full");
    fx_add_job(f, "later");
    assert_false(fx_flush(f).failed);
}

/* As a full disk may: the transaction goes, and whoever asked looks at nothing. */
static int lose_the_turn(struct storage *st, void *ctx, struct err *e)
{
    struct fx *f = ctx;
    (void)e;
    fx_add_job(f, "lost");
    assert_int_equal(sqlite3_exec(st->db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    st_err_from_sqlite(st, SQLITE_FULL, "test", NULL);
    return 0;
}

static int in_savepoint(struct storage *st, struct fx *f, struct err *e)
{
    return st_tx(st, "t", lose_the_turn, f, e);
}

static int whole(struct storage *st, struct fx *f, struct err *e)
{
    return st_whole(st, lose_the_turn, f, e);
}

DB_TEST(test_a_part_that_lost_its_turn_is_not_told_that_all_is_well)
{
    static int (*const ways[])(struct storage *, struct fx *, struct err *) = {in_savepoint, whole};
    struct job j;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        fx_flush(f);
        fx_add_job(f, "before");
        assert_int_equal(ways[i](f->st, f, &f->e), -1);
        assert_says(f->e.msg, "full");
        assert_int_equal(ways[i](f->st, f, &f->e), -1); /* nothing more is begun in that turn */
        assert_says(f->e.msg, "full");
        assert_true(fx_flush(f).failed);
        assert_int_equal(st_job_get(f->st, &f->a, f->experiment, "before", &j, &f->e), 0);
        assert_int_equal(st_job_get(f->st, &f->a, f->experiment, "lost", &j, &f->e), 0);
    }
    fx_add_job(f, "later");
    assert_false(fx_flush(f).failed);
}

/* --- a failed sync --------------------------------------------------------------------------- */

static int failing_sync(int fd)
{
    (void)fd;
    errno = EIO;
    return -1;
}

/* --- events and the sync --------------------------------------------------------------------- */

struct commit_told {
    int n;
    int64_t last;
};

static void on_events(void *ctx, int64_t on_disk)
{
    struct commit_told *t = ctx;
    t->n++;
    t->last = on_disk;
}

static void add_event(struct fx *f, int64_t job)
{
    const struct event ev = {.at_us = T0,
                             .kind = RES_JOB,
                             .resource_id = job,
                             .from = EXEC_QUEUED,
                             .to = EXEC_QUEUED,
                             .reason = "test"};
    ok(f, st_event_add(f->st, &ev, &f->e));
}

static int64_t newest_event(struct fx *f)
{
    int64_t seq = 0;
    ok(f, st_event_newest(f->st, &seq, &f->e));
    return seq;
}

static void run_until_told(struct fx *f, const struct commit_told *t, int n)
{
    while (t->n < n)
        uv_run(&f->loop, UV_RUN_ONCE);
}

/* A later turn's events are committed by then, but not on disk. */
GATED_TEST(test_events_are_told_after_the_sync_of_their_turn)
{
    struct commit_told t = {0};
    int64_t job = fx_add_job(f, "a"), before = st_events_on_disk(f->st), first;
    st_watch_events(f->st, on_events, &t);
    add_event(f, job);
    add_event(f, job);
    first = newest_event(f);
    st_turn_end(f->st);
    add_event(f, job);
    st_turn_end(f->st);
    uv_run(&f->loop, UV_RUN_NOWAIT);
    assert_int_equal(t.n, 0);
    assert_int_equal(st_events_on_disk(f->st), before);
    uv_sem_post(&gate);
    run_until_told(f, &t, 1);
    assert_int_equal(t.last, first);
    assert_int_equal(st_events_on_disk(f->st), first);
    uv_sem_post(&gate);
    run_until_told(f, &t, 2);
    assert_int_equal(t.last, newest_event(f));
    st_when_durable(f->st, on_durable, &(struct mark){&(struct trace){0}, 0});
    st_turn_end(f->st); /* without events */
    assert_int_equal(t.n, 2);
}

static int take_back(struct storage *st, void *ctx, struct err *e)
{
    (void)st;
    add_event(ctx, 1);
    add_event(ctx, 1);
    return err_set(e, ERR_INTERNAL, NULL, "test");
}

/* Their numbers are given to others, of a turn that is not on disk. */
GATED_TEST(test_events_of_a_rolled_back_part_are_not_told)
{
    struct commit_told t = {0};
    int64_t job = fx_add_job(f, "a"), first;
    st_watch_events(f->st, on_events, &t);
    add_event(f, job);
    first = newest_event(f);
    assert_int_equal(st_tx(f->st, "part", take_back, f, &f->e), -1);
    st_turn_end(f->st);
    uv_sem_post(&gate);
    run_until_told(f, &t, 1);
    assert_int_equal(t.last, first);
}

DB_TEST(test_events_of_an_earlier_life_are_on_disk)
{
    int64_t job = fx_add_job(f, "a"), last = newest_event(f);
    fx_reopen(f);
    assert_int_equal(st_events_on_disk(f->st), last);
    struct event *rows;
    size_t n;
    add_event(f, job);
    ok(f, st_event_before(f->st, &f->a, newest_event(f), 1, &rows, &n, &f->e));
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].seq, last);
}

/* --- crashes --------------------------------------------------------------------------------- */

/* Runs in a child: opens, writes "acked", waits until it is on disk, writes on, dies by `how`. */
static void child_crashes(struct fx *f, int how)
{
    fx_loop_open(f); /* a loop does not survive a fork */
    fx_open(f);
    fx_add_job(f, "acked");
    if (how == SIGABRT)
        f->st->sync_fn = failing_sync;
    struct fx_flushed w = {0};
    st_when_durable(f->st, fx_on_flushed, &w);
    st_turn_end(f->st);
    while (!w.done)
        uv_run(&f->loop, UV_RUN_ONCE);
    fx_add_job(f, "committed, not synced");
    st_turn_end(f->st);
    fx_add_job(f, "not committed");
    raise(how);
}

static int crash(struct fx *f, int how)
{
    fx_flush(f);
    fx_close(f);
    fx_loop_close(f);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        child_crashes(f, how);
        _exit(3);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    fx_loop_open(f);
    fx_open(f);
    return status;
}

DB_TEST(test_kill_9)
{
    int status = crash(f, SIGKILL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    struct job j;
    found(f, st_job_get(f->st, &f->a, f->experiment, "acked", &j, &f->e));
    assert_int_equal(st_job_get(f->st, &f->a, f->experiment, "not committed", &j, &f->e), 0);
    fx_add_job(f, "after the crash");
    assert_false(fx_flush(f).failed);
}

DB_TEST(test_failed_sync_ends_the_process)
{
    int status = crash(f, SIGABRT);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    char path[96], *text;
    snprintf(path, sizeof path, "%s/log", f->dir);
    ok(f, fs_read(path, 1 << 20, &text, NULL, &f->e));
    assert_says(text, "db.sync_failed");
    free(text);
}
