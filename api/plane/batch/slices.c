/* SPDX-License-Identifier: MIT
 *
 * For a row that is made or deleted between two slices, the page looks as if it had been requested
 * a moment earlier or later.
 */
#include "api/plane/batch/slices.h"

#include <uv.h>

#define SLICE_NS (5 * 1000 * 1000)
/* Rows that are fetched at a time, and rows that a filter is asked about at a time: some 3 us each.
 */
#define BATCH_ROWS 128
#define ASKED_ROWS 1000
/* Rows that a filter is asked about for one page, so that each request comes to an end: the page
 * may be short, or empty, and still have a next one. */
#define ASKED_MAX 200000

struct pages {
    struct request *r;
    const struct batch_rows *kind;
    int64_t owner;
    struct batch_list l;
    struct arena arena; /* of the present batch */
    const char *after;  /* the request's arena */
    size_t asked;
    bool at_end;
    bool sliced; /* the reply will be sent by request_finish() */
};

/* Everything that is made meanwhile goes with the batch. */
static struct arena begin_batch(struct pages *p)
{
    struct arena of_request = p->r->arena;
    arena_free(&p->arena);
    arena_init(&p->arena);
    p->r->arena = p->arena;
    return of_request;
}

static void swap_back(struct pages *p, struct arena of_request)
{
    p->arena = p->r->arena;
    p->r->arena = of_request;
}

static void add_row(struct pages *p, const void *rows, size_t i)
{
    struct strbuf *out = batch_list_row(p->r, &p->l, p->kind->name(p->r, rows, i));
    if (!out)
        return;
    struct arena of_request = p->r->arena;
    p->r->arena = p->arena;
    p->kind->render(p->r, rows, i, p->l.set, out);
    swap_back(p, of_request);
}

static int limit_of(const struct pages *p)
{
    long left = p->l.max - p->l.n + 1;
    return left < BATCH_ROWS ? (int)left : BATCH_ROWS;
}

static int fetch(struct pages *p, const char **upto, void **rows, size_t *n, struct err *e)
{
    struct arena of_request = begin_batch(p);
    int rc = 0;
    *upto = NULL;
    if (p->l.filter)
        rc = p->kind->nth(p->r, p->owner, p->after, ASKED_ROWS, upto, e);
    if (rc >= 0)
        rc = p->kind->fetch(p->r, p->owner, p->l.filter, p->after, *upto, limit_of(p), rows, n, e);
    swap_back(p, of_request);
    return rc < 0 ? -1 : 0;
}

static int add_some(struct pages *p, struct err *e)
{
    const char *upto;
    void *rows;
    size_t n, most = (size_t)limit_of(p);
    if (fetch(p, &upto, &rows, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n && !p->l.more; i++)
        add_row(p, rows, i);
    p->asked += p->l.filter ? ASKED_ROWS : 0;
    p->at_end = n < most && !upto;
    if (n == most)
        p->after = arena_strdup(&p->r->arena, p->kind->name(p->r, rows, n - 1));
    else if (upto)
        p->after = arena_strdup(&p->r->arena, upto);
    if (!p->at_end && !p->l.more && p->asked >= ASKED_MAX)
        batch_list_stop(p->r, &p->l, p->after);
    return 0;
}

static void release(void *kept)
{
    struct pages *p = kept;
    batch_list_drop(&p->l);
    arena_free(&p->arena);
}

static struct replied *step(struct pages *p);

static void on_turn(struct request *r, void *ctx)
{
    struct pages *p = ctx;
    p->sliced = true;
    struct replied *done = step(p);
    if (done)
        request_finish(r, done);
}

/* NULL: the rest follows in later turns. */
static struct replied *step(struct pages *p)
{
    uint64_t until_ns = uv_hrtime() + SLICE_NS;
    struct err e;
    do {
        if (add_some(p, &e) < 0)
            return reply_err(p->r, &e);
        if (p->at_end || p->l.more)
            return batch_list_reply(p->r, &p->l);
    } while (uv_hrtime() < until_ns);
    request_again(p->r, on_turn, p);
    return p->sliced ? NULL : reply_later(p->r);
}

struct replied *batch_reply_rows(struct request *r, const struct batch_rows *kind, int64_t owner)
{
    struct err e;
    struct pages *p = arena_alloc(&r->arena, sizeof *p);
    *p = (struct pages){.r = r, .kind = kind, .owner = owner};
    arena_init(&p->arena);
    request_keep(r, p, release);
    if (batch_list_begin(r, &kind->list, &p->l, &e) < 0)
        return reply_err(r, &e);
    p->after = p->l.after;
    return step(p);
}
