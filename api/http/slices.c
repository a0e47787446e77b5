/* SPDX-License-Identifier: MIT
 *
 * Lists that are made in slices. State: the page, the batch of rows, and the index of the next row.
 * The request owns the state; between two slices it waits in request_again(). Called only on the
 * loop's thread.
 */
#include "api/http/slices.h"

#include <uv.h>

#define SLICE_NS (5 * 1000 * 1000)

/* Swaps the arenas of the request and of the batch. */
static void swap_arenas(struct slices *s)
{
    struct arena other = s->page->r->arena;
    s->page->r->arena = s->arena;
    s->arena = other;
}

static int fetch(struct slices *s, struct err *e)
{
    arena_free(&s->arena);
    arena_init(&s->arena);
    s->n = s->at = 0;
    swap_arenas(s);
    int rc = s->kind->fetch(s, e);
    swap_arenas(s);
    return rc;
}

static bool has_more(const struct slices *s)
{
    return s->at < s->n || !s->at_end;
}

/* Adds at least one row of the batch, and more until the page is full or the time is up. */
static int add_rows(struct slices *s, uint64_t until_ns, struct err *e)
{
    int rc = 0;
    swap_arenas(s);
    for (bool first = true; s->at < s->n && !s->page->more && rc == 0; first = false) {
        if (!first && uv_hrtime() >= until_ns)
            break;
        rc = s->kind->add(s, slices_row(s, s->at++), e);
    }
    swap_arenas(s);
    return rc;
}

static void release(void *slices)
{
    struct slices *s = slices;
    arena_free(&s->arena);
}

static struct replied *step(struct slices *s);

static void on_turn(struct request *r, void *ctx)
{
    struct slices *s = ctx;
    s->sliced = true;
    struct replied *done = step(s);
    if (done)
        request_finish(r, done);
}

/* Whether the page must end now although it is not full: a dump needs each page in one turn, and
 * requests the next page in a later turn. */
static bool ends_early(const struct slices *s, uint64_t until_ns)
{
    return s->page->r->dumps && uv_hrtime() >= until_ns;
}

static bool is_enough(struct slices *s)
{
    return s->kind->is_enough && s->kind->is_enough(s);
}

/* Makes one slice. NULL: later turns continue. */
static struct replied *step(struct slices *s)
{
    struct page *page = s->page;
    uint64_t until_ns = uv_hrtime() + SLICE_NS;
    struct err e;
    do {
        if ((s->at == s->n && fetch(s, &e) < 0) || add_rows(s, until_ns, &e) < 0)
            return reply_err(page->r, &e);
        if (has_more(s) && !page->more && (is_enough(s) || ends_early(s, until_ns)))
            page->more = true;
        if (page->more || !has_more(s))
            return page_reply(page);
    } while (uv_hrtime() < until_ns);
    request_again(page->r, on_turn, s);
    return s->sliced ? NULL : reply_later(page->r);
}

struct replied *slices_reply(struct page *page, const struct slices_kind *kind, void *of,
                             size_t size)
{
    struct slices *s = arena_alloc(&page->r->arena, sizeof *s);
    *s = (struct slices){.page = page, .kind = kind, .of = of, .size = size};
    arena_init(&s->arena);
    request_own_thing(page->r, s, release);
    return step(s);
}
