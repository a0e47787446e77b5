/* SPDX-License-Identifier: MIT
 *
 * The history of samples: how it is thinned, and what becomes of a damaged, full or missing file.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fs.h"
#include "lib/loop_uv.h"
#include "storage/history/history_priv.h"
#include "test/unit/support/tests.h"

#define BEGIN_S INT64_C(1764000000) /* the beginning of an hour */
#define HOUR    3600
#define DAY     86400

struct history_world {
    uv_loop_t uv;
    struct loop *loop;
    struct history *samples;
    struct history_file file;
    char dir[64], path[96];
    bool closed, answered, failed, more;
    size_t n;
    struct node_sample first, last;
    int log_fds[2];
};

static struct history_world *world_new(void)
{
    struct history_world *h = calloc(1, sizeof *h);
    snprintf(h->dir, sizeof h->dir, "/tmp/batchai-samples-XXXXXX");
    assert_non_null(mkdtemp(h->dir));
    snprintf(h->path, sizeof h->path, "%s/samples.db", h->dir);
    assert_int_equal(uv_loop_init(&h->uv), 0);
    h->loop = loop_uv_create(&h->uv, NULL, NULL);
    sample_clear(&h->first);
    sample_clear(&h->last);
    return h;
}

static void on_closed(void *ctx)
{
    ((struct history_world *)ctx)->closed = true;
}

static void close_samples(struct history_world *h)
{
    if (h->samples)
        history_close(h->samples, on_closed, h);
    while (h->samples && !h->closed)
        uv_run(&h->uv, UV_RUN_ONCE);
    h->samples = NULL;
    h->closed = false;
}

static void world_free(struct history_world *h)
{
    close_samples(h);
    history_file_close(&h->file);
    sample_free(&h->first);
    sample_free(&h->last);
    loop_uv_destroy(h->loop);
    uv_run(&h->uv, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&h->uv), 0);
    assert_int_equal(fs_remove_tree(h->dir, NULL), 0);
    free(h);
}

static struct node_sample sample_at(int64_t at_s, int cpu, struct gpu_sample gpus[2])
{
    struct node_sample s;
    sample_clear(&s);
    s.at_us = at_s * 1000000 + 123;
    s.cpu_permille = cpu;
    s.disk_free = INT64_C(1) << 50;
    s.n_gpus = gpus ? 2 : 0;
    s.gpus = gpus;
    for (int i = 0; i < s.n_gpus; i++) {
        gpu_sample_clear(&gpus[i]);
        gpus[i].index = i;
        gpus[i].busy_permille = cpu / (i + 1);
    }
    return s;
}

static void add_by(struct history_world *h, const char *node, int64_t at_s, int cpu,
                   int64_t steady_s)
{
    struct gpu_sample gpus[2];
    struct err e;
    const struct node_sample s = sample_at(at_s, cpu, gpus);
    h->file.steady_s = at_s < steady_s ? at_s : steady_s;
    if (history_file_add(&h->file, node, &s, &e) < 0)
        fail_msg("%s", e.msg);
}

static void add(struct history_world *h, const char *node, int64_t at_s, int cpu)
{
    add_by(h, node, at_s, cpu, at_s);
}

static void open_file(struct history_world *h)
{
    struct err e;
    if (history_file_open(&h->file, h->path, 0, &e) < 0)
        fail_msg("%s", e.msg);
}

/* How many there are; the first and the last. */
static size_t read_file(struct history_world *h, enum history_level level, int64_t from_s,
                        int64_t to_s)
{
    struct node_sample *rows;
    size_t n;
    struct err e;
    const struct history_query q = {"n1", level, from_s, to_s, HISTORY_READ_MOST};
    assert_int_equal(history_file_read(&h->file, &q, &rows, &n, &e), 0);
    if (n > 0) {
        sample_copy(&h->first, &rows[0]);
        sample_copy(&h->last, &rows[n - 1]);
    }
    for (size_t i = 0; i < n; i++)
        sample_free(&rows[i]);
    free(rows);
    return n;
}

TEST(bytes_and_back)
{
    struct gpu_sample gpus[2];
    struct node_sample s = sample_at(BEGIN_S, 250, gpus), back;
    struct strbuf b = STRBUF_INIT;
    gpus[1].index = 63;
    sample_pack(&s, &b);
    assert_int_equal(sample_unpack(b.s, b.len, &back), 0);
    assert_int_equal(back.cpu_permille, 250);
    assert_int_equal(back.memory_used, SAMPLE_UNKNOWN);
    assert_int_equal(back.disk_free, INT64_C(1) << 50);
    assert_int_equal(back.n_gpus, 2);
    assert_int_equal(back.gpus[1].index, 63);
    assert_int_equal(back.gpus[1].busy_permille, 125);
    assert_int_equal(back.gpus[1].power_mw, SAMPLE_UNKNOWN);
    sample_free(&back);
    for (size_t n = 0; n < b.len; n++)
        assert_int_equal(sample_unpack(b.s, n, &back), -1);
    memset(b.s, 0xff, b.len);
    assert_int_equal(sample_unpack(b.s, b.len, &back), -1);
    strbuf_free(&b);
}

TEST_WITH(thinned_with_age, struct history_world *, h, world_new(), world_free)
{
    struct err e;
    open_file(h);
    assert_int_equal(history_file_begin(&h->file, &e), 0);
    for (int i = 0; i <= 3 * HOUR; i += 15) {
        add(h, "n1", BEGIN_S + i, i < 300 ? 100 : 300);
        if (i % 60 == 0)
            add(h, "other", BEGIN_S + i, 1);
    }
    assert_int_equal(history_file_end(&h->file, 0, &e), 0);
    assert_int_equal(read_file(h, HISTORY_RAW, 0, INT64_MAX), 241);
    assert_int_equal(h->first.at_us, (BEGIN_S + 2 * HOUR) * 1000000);
    assert_int_equal(read_file(h, HISTORY_MINUTES, 0, INT64_MAX), 36);
    assert_int_equal(h->first.at_us, BEGIN_S * 1000000);
    assert_int_equal(h->first.cpu_permille, 100);
    assert_int_equal(h->first.gpus[1].busy_permille, 50);
    assert_int_equal(h->last.at_us, (BEGIN_S + 3 * HOUR - 300) * 1000000);
    /* the third is over when its last 5 minutes are averaged and others follow */
    assert_int_equal(read_file(h, HISTORY_HOURS, 0, INT64_MAX), 2);
    assert_int_equal(h->first.cpu_permille, (100 + 11 * 300 + 6) / 12);
    assert_int_equal(read_file(h, HISTORY_MINUTES, BEGIN_S + 300, BEGIN_S + 900), 2);
    assert_int_equal(read_file(h, HISTORY_HOURS, BEGIN_S + 1, BEGIN_S + 2), 0);
}

/* A gap, a restart within a step, samples that go back, and the same second twice. */
TEST_WITH(steps_survive_restarts, struct history_world *, h, world_new(), world_free)
{
    open_file(h);
    add(h, "n1", BEGIN_S, 100);
    history_file_close(&h->file);
    open_file(h);
    add(h, "N1", BEGIN_S + 15, 300); /* names have no case */
    add(h, "n1", BEGIN_S + 15, 500);
    add(h, "n1", BEGIN_S - 7200, 900);
    add(h, "n1", BEGIN_S + 2 * HOUR, 700);
    assert_int_equal(read_file(h, HISTORY_MINUTES, BEGIN_S, INT64_MAX), 1);
    assert_int_equal(h->first.cpu_permille, 300);
    assert_int_equal(read_file(h, HISTORY_RAW, 0, INT64_MAX), 1);
}

/* The next samples are of a year later, for a moment. */
TEST_WITH(a_clock_set_forward_ages_nothing, struct history_world *, h, world_new(), world_free)
{
    struct err e;
    open_file(h);
    assert_int_equal(history_file_begin(&h->file, &e), 0);
    for (int i = 0; i < HOUR; i += 15)
        add(h, "n1", BEGIN_S + i, 100);
    size_t minutes = read_file(h, HISTORY_MINUTES, 0, INT64_MAX);
    add_by(h, "n1", BEGIN_S + 400 * DAY, 100, BEGIN_S + HOUR);
    add_by(h, "n1", BEGIN_S + 400 * DAY + 3600, 100, BEGIN_S + HOUR + 15);
    assert_int_equal(history_file_sweep(&h->file, BEGIN_S + 400 * DAY, true, &e), 0);
    add(h, "n1", BEGIN_S + HOUR + 30, 100);
    assert_int_equal(history_file_end(&h->file, 0, &e), 0);
    assert_int_equal(read_file(h, HISTORY_RAW, 0, BEGIN_S + HOUR), HOUR / 15 - 2);
    assert_int_equal(read_file(h, HISTORY_MINUTES, 0, BEGIN_S + HOUR), minutes + 1);
}

static int64_t number(struct history_world *h, const char *sql)
{
    sqlite3_stmt *q;
    assert_int_equal(sqlite3_prepare_v2(h->file.db, sql, -1, &q, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    return n;
}

static void sweep(struct history_world *h, int64_t now_s)
{
    struct err e;
    h->file.steady_s = now_s;
    assert_int_equal(history_file_sweep(&h->file, now_s, false, &e), 0);
}

/* Their last steps reach the averages. */
TEST_WITH(nodes_that_are_gone, struct history_world *, h, world_new(), world_free)
{
    open_file(h);
    add(h, "gone", BEGIN_S, 1);
    add(h, "n1", BEGIN_S, 100);
    add(h, "n1", BEGIN_S + 300, 200);
    add(h, "n1", BEGIN_S + 315, 400);
    sweep(h, BEGIN_S + 320); /* the step is not over */
    assert_int_equal(read_file(h, HISTORY_MINUTES, 0, INT64_MAX), 1);
    sweep(h, BEGIN_S + 310 + HOUR); /* some of the samples go */
    sweep(h, BEGIN_S + 3 * HOUR);
    assert_int_equal(read_file(h, HISTORY_RAW, 0, INT64_MAX), 0);
    assert_int_equal(read_file(h, HISTORY_MINUTES, 0, INT64_MAX), 2);
    assert_int_equal(h->last.cpu_permille, 300);
    assert_int_equal(read_file(h, HISTORY_HOURS, 0, INT64_MAX), 1);
    assert_int_equal(h->last.cpu_permille, 200);
    sweep(h, BEGIN_S + 8 * DAY);
    assert_int_equal(read_file(h, HISTORY_MINUTES, 0, INT64_MAX), 0);
    assert_int_equal(number(h, "SELECT count(*) FROM node"), 2);
    sweep(h, BEGIN_S + 366 * DAY);
    assert_int_equal(number(h, "SELECT count(*) FROM node"), 0);
}

/* For an hour, except for its last two samples. */
static void is_busy(struct history_world *h)
{
    open_file(h);
    for (int i = 0; i < HOUR; i += 15)
        add(h, "n1", BEGIN_S + i, i < HOUR - 30 ? 1000 : 0);
}

/* The node is silent until a sweep forgets some of its samples, and is back before the next. */
TEST_WITH(an_average_of_minutes_outlives_its_samples, struct history_world *, h, world_new(),
          world_free)
{
    is_busy(h);
    sweep(h, BEGIN_S + 2 * HOUR - 30); /* two samples are left */
    add(h, "n1", BEGIN_S + 2 * HOUR - 20, 0);
    assert_int_equal(read_file(h, HISTORY_MINUTES, 0, BEGIN_S + HOUR), 12);
    assert_int_equal(h->last.cpu_permille, 900);
}

TEST_WITH(an_average_of_an_hour_outlives_those_of_minutes, struct history_world *, h, world_new(),
          world_free)
{
    is_busy(h);
    sweep(h, BEGIN_S + HOUR);
    sweep(h, BEGIN_S + 7 * DAY + HOUR - 300); /* one average of minutes is left */
    add(h, "n1", BEGIN_S + 7 * DAY + HOUR - 300, 0);
    add(h, "n1", BEGIN_S + 7 * DAY + HOUR, 0);
    assert_int_equal(read_file(h, HISTORY_HOURS, 0, BEGIN_S + HOUR), 1);
    assert_int_equal(h->last.cpu_permille, (11 * 1000 + 900 + 6) / 12);
}

/* Only a sweep averages the minutes of the next hour, and later the next hour. */
TEST_WITH(a_node_that_is_gone_early_in_an_hour_has_the_hour_before, struct history_world *, h,
          world_new(), world_free)
{
    is_busy(h);
    add(h, "n1", BEGIN_S + HOUR, 0);
    sweep(h, BEGIN_S + HOUR + 600);
    sweep(h, BEGIN_S + 3 * HOUR);
    assert_int_equal(read_file(h, HISTORY_HOURS, 0, INT64_MAX), 2);
    assert_int_equal(h->first.cpu_permille, (11 * 1000 + 900 + 6) / 12);
}

TEST_WITH(a_full_file_forgets_earlier, struct history_world *, h, world_new(), world_free)
{
    struct err e;
    int rc = 0, i, halvings = 0;
    assert_int_equal(history_file_open(&h->file, h->path, 64 * 4096, &e), 0);
    for (i = 0; i < 20000 && halvings == 0; i++) {
        struct gpu_sample gpus[2];
        const struct node_sample s = sample_at(BEGIN_S + i * 3600, 1, gpus);
        assert_int_equal(history_file_begin(&h->file, &e), 0);
        h->file.steady_s = BEGIN_S + i * 3600;
        rc = history_file_end(&h->file, history_file_add(&h->file, "n1", &s, &e), &e);
        halvings = h->file.halvings;
    }
    assert_int_equal(rc, -1);
    assert_int_equal(halvings, 1);
    assert_int_equal(history_file_begin(&h->file, &e), 0);
    rc = history_file_sweep(&h->file, BEGIN_S + i * 3600, true, &e);
    assert_int_equal(history_file_end(&h->file, rc, &e), 0);
    add(h, "n1", BEGIN_S + i * 3600, 1);
}

/* --- the loop's side -------------------------------------------------------------------------- */

static const struct log *quiet(void)
{
    static struct log log;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log = (struct log){.fd = null, .level = LOG_LVL_ERROR};
    return &log;
}

static void open_samples(struct history_world *h, const struct log *log)
{
    h->samples = history_open(&(struct history_config){h->loop, log, h->path, .batch_us = 1000});
}

static void on_rows(void *ctx, const struct err *why, const struct node_sample *rows, size_t n,
                    bool more)
{
    struct history_world *h = ctx;
    assert_false(h->answered);
    h->answered = true;
    h->failed = why != NULL;
    h->n = n;
    h->more = more;
    if (n > 0)
        sample_copy(&h->first, &rows[0]);
}

static void on_any_rows(void *ctx, const struct err *why, const struct node_sample *rows, size_t n,
                        bool more)
{
    (void)ctx, (void)why, (void)rows, (void)n, (void)more;
}

static size_t ask(struct history_world *h, int max)
{
    struct err e;
    const struct history_query q = {"n1", HISTORY_RAW, 0, INT64_MAX, max};
    h->answered = false;
    assert_int_equal(history_read(h->samples, &q, on_rows, h, &e), 0);
    while (!h->answered)
        uv_run(&h->uv, UV_RUN_ONCE);
    return h->n;
}

static void add_one(struct history_world *h, int64_t at_s)
{
    struct gpu_sample gpus[2];
    const struct node_sample s = sample_at(at_s, 250, gpus);
    history_add(h->samples, "n1", &s, at_s * 1000000);
}

static void until_written(struct history_world *h, uint64_t n)
{
    while (history_counts(h->samples)->written + history_counts(h->samples)->lost < n)
        uv_run(&h->uv, UV_RUN_ONCE);
}

TEST_WITH(written_in_batches_and_read, struct history_world *, h, world_new(), world_free)
{
    struct stat st;
    open_samples(h, quiet());
    assert_int_equal(ask(h, 10), 0);
    for (int i = 0; i < 5; i++)
        add_one(h, BEGIN_S + i * 15);
    until_written(h, 5);
    assert_int_equal(ask(h, 10), 5);
    assert_false(h->more || h->failed);
    assert_int_equal(h->first.gpus[0].busy_permille, 250);
    assert_int_equal(ask(h, 2), 2);
    assert_true(h->more);
    assert_int_equal(stat(h->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    add_one(h, BEGIN_S + 75); /* the end writes it */
    close_samples(h);
    open_samples(h, quiet());
    assert_int_equal(ask(h, 10), 6);
}

static void spoil(struct history_world *h, const char *text, size_t n)
{
    int fd = open(h->path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, text, n, 0), (ssize_t)n);
    close(fd);
}

TEST_WITH(a_damaged_file_is_put_aside, struct history_world *, h, world_new(), world_free)
{
    char aside[128];
    struct stat st;
    static char garbage[8192];
    memset(garbage, 'x', sizeof garbage);
    spoil(h, garbage, sizeof garbage);
    open_samples(h, quiet());
    add_one(h, BEGIN_S);
    until_written(h, 1);
    assert_int_equal(history_counts(h->samples)->written, 1);
    assert_int_equal(ask(h, 10), 1);
    snprintf(aside, sizeof aside, "%s.damaged", h->path);
    assert_int_equal(stat(aside, &st), 0);
}

/* In the middle, while it is open. */
TEST_WITH(damage_that_comes_later, struct history_world *, h, world_new(), world_free)
{
    static char garbage[65536];
    memset(garbage, 0xa5, sizeof garbage);
    open_samples(h, quiet());
    for (int i = 0; i < 100; i++)
        add_one(h, BEGIN_S + i);
    until_written(h, 100);
    close_samples(h);
    int fd = open(h->path, O_WRONLY);
    assert_true(fd >= 0);
    for (off_t at = 4096; at < 65536; at += 4096)
        assert_int_equal(pwrite(fd, garbage, 4096, at), 4096);
    close(fd);
    open_samples(h, quiet());
    add_one(h, BEGIN_S + 200);
    until_written(h, 1);
    assert_int_equal(history_counts(h->samples)->written, 1);
    assert_int_equal(ask(h, 10), 1);
}

TEST_WITH(without_a_place_nothing_stops, struct history_world *, h, world_new(), world_free)
{
    snprintf(h->path, sizeof h->path, "%s/none/samples.db", h->dir);
    open_samples(h, quiet());
    add_one(h, BEGIN_S);
    until_written(h, 1);
    assert_int_equal(history_counts(h->samples)->lost, 1);
    assert_int_equal(ask(h, 10), 0);
    assert_true(h->failed);
    for (int i = 0; i < 5000; i++) /* it waits a minute for another try */
        add_one(h, BEGIN_S + i);
    assert_int_equal(history_counts(h->samples)->lost, 1 + 5000 - 4096);
}

/* Reads fill the queue of the thread, which waits for the file. */
TEST_WITH(a_refused_batch_counts_as_lost, struct history_world *, h, world_new(), world_free)
{
    struct err e;
    sqlite3 *lock;
    const struct history_query q = {"n1", HISTORY_RAW, 0, INT64_MAX, 5};
    assert_int_equal(sqlite3_open(h->path, &lock), SQLITE_OK);
    assert_int_equal(sqlite3_exec(lock, "CREATE TABLE t (a); BEGIN EXCLUSIVE", NULL, NULL, NULL),
                     SQLITE_OK);
    open_samples(h, quiet());
    add_one(h, BEGIN_S);
    for (int reads = 0; reads < 65;) /* one with the thread, 64 behind it */
        if (history_read(h->samples, &q, on_any_rows, h, &e) == 0)
            reads++;
    while (history_counts(h->samples)->lost == 0)
        uv_run(&h->uv, UV_RUN_NOWAIT);
    assert_int_equal(history_counts(h->samples)->lost, 1);
    assert_int_equal(sqlite3_close(lock), SQLITE_OK);
}

TEST_WITH(pending_reads_end, struct history_world *, h, world_new(), world_free)
{
    struct err e;
    const struct history_query q = {"n1", HISTORY_RAW, 0, INT64_MAX, 5};
    open_samples(h, quiet());
    assert_int_equal(history_read(h->samples, &q, on_rows, h, &e), 0);
    history_end_reads(h->samples);
    assert_true(h->answered && h->failed);
}
