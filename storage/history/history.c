/* SPDX-License-Identifier: MIT
 *
 * The loop's side of the history: samples wait in a list, and one piece of work on the thread
 * writes the whole list, while the next list fills.
 */
#include "storage/history/history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "storage/history/history_priv.h"

#define SECOND_US  INT64_C(1000000)
#define BATCH_US   (2 * SECOND_US)
#define RETRY_US   (60 * SECOND_US)
#define PATIENT_US (3 * SECOND_US) /* how long the close waits for the thread */
#define WAITING    4096            /* samples; half a minute of 2,000 nodes */
#define READS      64
#define READ_US    (10 * SECOND_US)

struct waiting_sample {
    char *node;
    struct node_sample s;
    int64_t steady_us;
};

struct sample_list {
    struct waiting_sample *e;
    size_t n;
};

/* Owned by the thread while `writing` is true, otherwise by the loop. */
struct sample_batch {
    struct sample_list list;
    int rc;
    bool aside;
    struct err why;
};

struct read {
    struct history *owner;
    struct history_query q;
    char *node;
    history_fn fn;
    void *ctx;
    struct node_sample *rows;
    size_t n;
    int rc;
    struct err why;
    int64_t until_us; /* monotonic */
    struct read *prev, *next;
};

struct history {
    struct history_config c;
    char *path;
    struct loop_lane *lane;
    struct loop_timer *timer, *overdue;
    struct history_file file; /* owned by the thread */
    struct sample_list list;
    struct sample_batch batch;
    bool writing, armed, closing;
    bool told_lost, told_failed;
    int64_t retry_us; /* when writing may be tried again (monotonic); 0: at any time */
    struct read *reads;
    struct history_counts counts;
    loop_fn closed;
    void *closed_ctx;
};

static void free_list(struct sample_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->e[i].node);
        sample_free(&l->e[i].s);
    }
    l->n = 0;
}

/* --- on the thread ---------------------------------------------------------------------------- */

static int write_rows(struct history_file *f, const struct sample_list *l, struct err *e)
{
    for (size_t i = 0; i < l->n; i++) {
        f->steady_s = l->e[i].steady_us / SECOND_US;
        if (history_file_add(f, l->e[i].node, &l->e[i].s, e) < 0)
            return -1;
    }
    return history_file_sweep(f, l->e[l->n - 1].s.at_us / SECOND_US, false, e);
}

static int write_all(struct history *s, const struct sample_list *l, struct err *e)
{
    struct history_file *f = &s->file;
    if (history_file_open(f, s->path, s->c.bytes_most, e) < 0 || history_file_begin(f, e) < 0)
        return -1;
    return history_file_end(f, write_rows(f, l, e), e);
}

/* Makes room in a full file: forgets old samples. The caller then tries once more. */
static int make_room(struct history *s, const struct sample_list *l, struct err *e)
{
    struct history_file *f = &s->file;
    if (history_file_open(f, s->path, s->c.bytes_most, e) < 0 || history_file_begin(f, e) < 0)
        return -1;
    f->steady_s = l->e[l->n - 1].steady_us / SECOND_US;
    int rc = history_file_sweep(f, l->e[l->n - 1].s.at_us / SECOND_US, true, e);
    return history_file_end(f, rc, e);
}

static void write_batch(void *ctx)
{
    struct history *s = ctx;
    struct sample_batch *b = &s->batch;
    int before = s->file.halvings;
    b->rc = write_all(s, &b->list, &b->why);
    if (b->rc < 0 && (s->file.halvings > before || s->file.put_aside) &&
        (!s->file.db || make_room(s, &b->list, &b->why) == 0))
        b->rc = write_all(s, &b->list, &b->why);
    b->aside = s->file.put_aside;
    s->file.put_aside = false;
}

static void read_rows(void *ctx)
{
    struct read *r = ctx;
    struct history *s = r->owner;
    r->rc = history_file_open(&s->file, s->path, s->c.bytes_most, &r->why);
    if (r->rc == 0)
        r->rc = history_file_read(&s->file, &r->q, &r->rows, &r->n, &r->why);
}

/* --- writing, on the loop --------------------------------------------------------------------- */

static void arm(struct history *s);

static void tell(struct history *s)
{
    const struct sample_batch *b = &s->batch;
    if (b->aside)
        LOG_WARN(s->c.log, "samples.damaged", LF_STR("path", s->path));
    if (b->rc < 0 && !s->told_failed)
        LOG_WARN(s->c.log, "samples.not_written", LF_STR("path", s->path),
                 LF_STR("why", b->why.msg));
    else if (b->rc == 0 && s->told_failed)
        LOG_INFO(s->c.log, "samples.writing_resumed", LF_STR("path", s->path));
    s->told_failed = b->rc < 0;
}

static void on_written(void *ctx, enum loop_work_end how)
{
    struct history *s = ctx;
    if (how == LOOP_WORK_DONE)
        tell(s);
    if (how == LOOP_WORK_DONE && s->batch.rc == 0)
        s->counts.written += s->batch.list.n;
    else
        s->counts.lost += s->batch.list.n;
    s->retry_us = s->told_failed ? loop_mono_us(s->c.loop) + RETRY_US : 0;
    free_list(&s->batch.list);
    s->writing = false;
    if (s->list.n > 0 && !s->closing)
        arm(s);
}

static void begin_write(struct history *s)
{
    struct sample_list l = s->batch.list;
    if (s->writing || s->list.n == 0)
        return;
    s->batch.list = s->list;
    s->list = l;
    s->writing = loop_work(s->lane, write_batch, on_written, s);
    if (s->writing)
        return;
    s->counts.lost += s->batch.list.n; /* the lane is full of reads */
    free_list(&s->batch.list);
}

static void on_time(void *ctx)
{
    struct history *s = ctx;
    s->armed = false;
    begin_write(s);
}

static void arm(struct history *s)
{
    int64_t at = loop_mono_us(s->c.loop) + (s->c.batch_us ? s->c.batch_us : BATCH_US);
    if (s->armed || s->writing)
        return;
    s->armed = true;
    loop_timer_start(s->timer, at > s->retry_us ? at : s->retry_us);
}

/* While the file cannot be written, up to WAITING samples wait for it; later samples are lost. */
void history_add(struct history *s, const char *node, const struct node_sample *sample,
                 int64_t steady_us)
{
    if (s->closing)
        return;
    if (s->list.n == WAITING) {
        s->counts.lost++;
        if (!s->told_lost)
            LOG_WARN(s->c.log, "samples.lost", LF_STR("path", s->path));
        s->told_lost = true;
        return;
    }
    s->told_lost = false;
    if (!s->list.e)
        s->list.e = xcalloc(WAITING, sizeof *s->list.e);
    struct waiting_sample *w = &s->list.e[s->list.n++];
    w->node = xstrdup(node);
    w->s.gpus = NULL;
    w->steady_us = steady_us;
    sample_copy(&w->s, sample);
    arm(s);
}

const struct history_counts *history_counts(const struct history *s)
{
    return &s->counts;
}

/* --- reading, on the loop --------------------------------------------------------------------- */

static void answer(struct read *r, const struct err *why)
{
    history_fn fn = r->fn;
    r->fn = NULL;
    if (fn)
        fn(r->ctx, why, r->rows, r->n < (size_t)r->q.max ? r->n : (size_t)r->q.max,
           r->n > (size_t)r->q.max);
}

static void on_read(void *ctx, enum loop_work_end how)
{
    struct read *r = ctx;
    struct history *s = r->owner;
    if (how == LOOP_WORK_DROPPED)
        err_set(&r->why, ERR_UNAVAILABLE, NULL, "The daemon is stopping.");
    if (r->prev)
        r->prev->next = r->next;
    else
        s->reads = r->next;
    if (r->next)
        r->next->prev = r->prev;
    answer(r, how == LOOP_WORK_DROPPED || r->rc < 0 ? &r->why : NULL);
    for (size_t i = 0; i < r->n; i++)
        sample_free(&r->rows[i]);
    free(r->rows);
    free(r->node);
    free(r);
}

int history_read(struct history *s, const struct history_query *q, history_fn fn, void *ctx,
                 struct err *e)
{
    struct read *r = xcalloc(1, sizeof *r);
    assert(q->max >= 1 && q->max <= HISTORY_READ_MOST && fn);
    *r = (struct read){.owner = s, .q = *q, .node = xstrdup(q->node), .fn = fn, .ctx = ctx};
    r->q.node = r->node;
    if (s->closing || !loop_work(s->lane, read_rows, on_read, r)) {
        free(r->node);
        free(r);
        return err_set(e, ERR_UNAVAILABLE, NULL,
                       "The history of samples is busy: its disk is slow, or too many read it.");
    }
    r->until_us = loop_mono_us(s->c.loop) + READ_US;
    if (!s->reads)
        loop_timer_start(s->overdue, r->until_us);
    r->next = s->reads;
    if (r->next)
        r->next->prev = r;
    s->reads = r;
    return 0;
}

/* Ends with an error the reads whose time limit is `until_us` or earlier. The thread may still use
 * them, so it keeps their rows. */
static void give_up(struct history *s, int64_t until_us, const struct err *why)
{
    for (struct read *r = s->reads; r; r = r->next) {
        history_fn fn = r->fn;
        if (!fn || r->until_us > until_us)
            continue;
        r->fn = NULL;
        fn(r->ctx, why, NULL, 0, false);
    }
}

static void on_overdue(void *ctx)
{
    struct history *s = ctx;
    struct err e;
    err_set(&e, ERR_UNAVAILABLE, NULL,
            "The history of samples does not answer: the disk of %s is slow or hangs.", s->path);
    give_up(s, loop_mono_us(s->c.loop), &e);
    if (s->reads)
        loop_timer_start(s->overdue, loop_mono_us(s->c.loop) + SECOND_US);
}

void history_end_reads(struct history *s)
{
    struct err e;
    err_set(&e, ERR_UNAVAILABLE, NULL, "The daemon is stopping.");
    give_up(s, INT64_MAX, &e);
}

/* --- both ends -------------------------------------------------------------------------------- */

struct history *history_open(const struct history_config *c)
{
    struct history *s = xcalloc(1, sizeof *s);
    s->c = *c;
    s->path = xstrdup(c->path);
    s->lane = loop_lane_create(c->loop, "samples", 1, READS);
    s->timer = loop_timer_create(c->loop, on_time, s);
    s->overdue = loop_timer_create(c->loop, on_overdue, s);
    return s;
}

static void on_closed(void *ctx)
{
    struct history *s = ctx;
    loop_fn closed = s->closed;
    void *closed_ctx = s->closed_ctx;
    if (s->writing || s->reads) /* the thread hangs, so it is left behind with all that it uses */
        goto out;
    history_file_close(&s->file);
    free_list(&s->list);
    free(s->list.e);
    free_list(&s->batch.list);
    free(s->batch.list.e);
    free(s->path);
    free(s);
out:
    if (closed)
        closed(closed_ctx);
}

void history_close(struct history *s, loop_fn closed, void *ctx)
{
    loop_timer_destroy(s->timer);
    loop_timer_destroy(s->overdue);
    begin_write(s);
    s->closing = true;
    s->closed = closed;
    s->closed_ctx = ctx;
    loop_lane_close(s->lane, LOOP_LANE_FINISH, PATIENT_US, on_closed, s);
}
