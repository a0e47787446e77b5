/* SPDX-License-Identifier: MIT
 *
 * Reads events from the database into the ring, some in each turn of the loop: new events up to the
 * last one on disk, and older events for a client that continues a former stream. The removal of a
 * resource has no row: it is recorded when it happens, and put into the ring when it is on disk.
 */
#include <stdio.h>
#include <stdlib.h>

#include "api/admin/event_stream_priv.h"
#include "api/arm/event_text.h"
#include "lib/hash.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define EVENTS_PER_TURN 64 /* they take some 3 ms */
/* A part of the ring, so that clients that read get the events before newer ones push them out. */
#define EVENTS_PER_ROUND (EVENT_RING_EVENTS / 4)

void event_id(const struct event *ev, char out[EVENT_ID_SIZE])
{
    const int64_t what[] = {ev->at_us, ev->kind, ev->resource_id, ev->from, ev->to};
    snprintf(out, EVENT_ID_SIZE, "%lld-%08x", (long long)ev->seq,
             (unsigned)text_hash(what, sizeof what));
}

int event_feed_begin(struct event_feed *f, struct err *e)
{
    struct arena a;
    struct event *rows;
    size_t n = 0;
    int64_t last = st_events_on_disk(f->st);
    arena_init(&a);
    int rc = st_event_before(f->st, &a, last + 1, 1, &rows, &n, e);
    if (rc == 0) {
        event_ring_reset(&f->ring, last);
        f->read = f->goal = last;
        f->is_on = true;
        f->back = FEED_NOT_BACK;
        snprintf(f->id, sizeof f->id, "0-00000000");
    }
    if (rc == 0 && n > 0)
        event_id(&rows[0], f->id);
    arena_free(&a);
    return rc;
}

/* Makes *out from `ev`: 1; 0: its resource is gone, or has no events; -1: err. out->text is in the
 * buffer `text`, the rest in the arena. */
static int make(const struct event_feed *f, struct arena *a, const struct event *ev,
                struct strbuf *text, struct ring_event *out, struct err *e)
{
    struct event_subject s;
    int rc = event_subject(f->st, f->fl, a, ev, &s, e);
    if (rc <= 0 || *s.name == '\0')
        return rc < 0 ? -1 : 0;
    json_auto_t *shown = event_show(ev, &s);
    strbuf_reset(text);
    jsontext_add(text, shown);
    *out = (struct ring_event){.seq = ev->seq,
                               .action = event_action(ev, &s),
                               .scope = event_scope(a, ev, &s),
                               .text = text->s,
                               .n = text->len};
    event_id(ev, out->id);
    return 1;
}

/* --- removals that wait for their place --------------------------------------------------------
 */

struct removal {
    struct removal *next;
    struct event_feed *feed;
    struct event ev;
    struct arena arena;
    struct strbuf text;
    struct ring_event one;
};

static void removal_free(struct removal *r)
{
    strbuf_free(&r->text);
    arena_free(&r->arena);
    free(r);
}

static struct removal *take_first(struct event_feed *f)
{
    struct removal *r = f->removals;
    f->removals = r->next;
    if (!f->removals)
        f->last = NULL;
    return r;
}

/* Adds to the ring each removal whose number is below `before`: the ring has all events up to that
 * number. */
static void add_removals(struct event_feed *f, int64_t before)
{
    while (f->removals && f->removals->one.seq < before) {
        struct removal *r = take_first(f);
        snprintf(r->one.id, sizeof r->one.id, "%s", f->id);
        event_ring_add(&f->ring, &r->one);
        removal_free(r);
    }
}

/* --- reading ------------------------------------------------------------------------------------
 */

static int read_newer(struct event_feed *f, struct arena *a, struct strbuf *text, struct err *e)
{
    struct event_rows rows;
    struct ring_event one;
    const struct st_page page = {.after = f->read, .limit = EVENTS_PER_TURN};
    int rc = st_event_since(f->st, a, &page, &rows, e);
    for (size_t i = 0; rc >= 0 && i < rows.n && rows.items[i].seq <= f->goal; i++) {
        rc = make(f, a, &rows.items[i], text, &one, e);
        if (rc < 0)
            break;
        add_removals(f, rows.items[i].seq);
        if (rc > 0)
            event_ring_add(&f->ring, &one);
        f->read = rows.items[i].seq;
        f->left--;
        event_id(&rows.items[i], f->id);
    }
    if (rc >= 0 && (rows.n < EVENTS_PER_TURN || rows.items[rows.n - 1].seq >= f->goal))
        f->read = f->goal;
    add_removals(f, f->read + 1);
    return rc < 0 ? -1 : 0;
}

static int read_older(struct event_feed *f, struct arena *a, struct strbuf *text, struct err *e)
{
    struct event *rows;
    struct ring_event one;
    size_t n = 0, i = 0;
    int rc = st_event_before(f->st, a, f->ring.after + 1, EVENTS_PER_TURN, &rows, &n, e);
    for (; rc >= 0 && i < n && rows[i].seq > f->back; i++) {
        rc = make(f, a, &rows[i], text, &one, e);
        if (rc < 0)
            break;
        if (rc > 0 && !event_ring_add_older(&f->ring, &one)) {
            /* clients that need older events will get `reset` */
            f->back = FEED_NOT_BACK;
            return 0;
        }
        f->ring.after = rows[i].seq - 1;
    }
    if (rc >= 0 && (i < n || n < EVENTS_PER_TURN) && f->ring.after > f->back)
        f->ring.after = f->back;
    if (rc >= 0 && f->ring.after <= f->back)
        f->back = FEED_NOT_BACK;
    return rc < 0 ? -1 : 0;
}

void event_feed_round(struct event_feed *f)
{
    f->goal = st_events_on_disk(f->st);
    f->left = EVENTS_PER_ROUND;
    f->failed = false;
}

bool event_feed_more(struct event_feed *f)
{
    struct arena a;
    struct err e;
    struct strbuf text = STRBUF_INIT;
    bool newer = f->read < f->goal && f->left > 0 && !f->failed, older = f->back < f->ring.after;
    if (!newer && !older)
        return false;
    arena_init(&a);
    int rc = newer ? read_newer(f, &a, &text, &e) : read_older(f, &a, &text, &e);
    strbuf_free(&text);
    arena_free(&a);
    if (rc == 0)
        return true;
    LOG_WARN(f->log, "event_stream.events_not_read", LF_INT("sequence", f->read),
             LF_STR("why", e.msg));
    f->failed = true;
    f->back = FEED_NOT_BACK;
    return false;
}

/* --- removals -----------------------------------------------------------------------------------
 */

/* Whether the resource still exists: its removal may have been rolled back. */
static bool is_there(const struct removal *r)
{
    struct arena a;
    struct event_subject s;
    struct err e;
    arena_init(&a);
    bool there = event_subject(r->feed->st, r->feed->fl, &a, &r->ev, &s, &e) == 1 && *s.name;
    arena_free(&a);
    return there;
}

/* The removal is on disk. It gets the number of the last event on disk, because it belongs after
 * that event. */
static void on_removed(void *ctx, const struct err *why)
{
    struct removal *r = ctx;
    struct event_feed *f = r->feed;
    int64_t seq = st_events_on_disk(f->st);
    if (!f->is_on) {
        event_ring_lose(&f->ring, seq);
    } else if (!why && !is_there(r)) {
        r->one.seq = seq;
        *(f->last ? &f->last->next : &f->removals) = r;
        f->last = r;
        add_removals(f, f->read + 1);
        f->grown(f->ctx);
        return;
    }
    removal_free(r);
}

static void on_removal(void *ctx, enum resource_kind kind, int64_t id)
{
    struct event_feed *f = ctx;
    struct err e;
    if (!event_has_kind(kind))
        return;
    if (!f->is_on) {
        event_ring_lose(&f->ring, st_events_on_disk(f->st));
        return;
    }
    struct removal *r = xcalloc(1, sizeof *r);
    *r = (struct removal){.feed = f,
                          .ev = {.at_us = loop_wall_us(f->loop), .kind = kind, .resource_id = id}};
    arena_init(&r->arena);
    int rc = make(f, &r->arena, &r->ev, &r->text, &r->one, &e);
    if (rc > 0) {
        r->one.is_beside = true;
        st_when_durable(f->st, on_removed, r);
        return;
    }
    if (rc < 0)
        event_ring_lose(&f->ring, st_events_on_disk(f->st));
    removal_free(r);
}

void event_feed_watch(struct event_feed *f)
{
    int64_t last = st_events_on_disk(f->st);
    struct err e;
    if (st_last_removal(f->st, &last, &e) < 0)
        LOG_WARN(f->log, "event_stream.events_not_read", LF_INT("sequence", last),
                 LF_STR("why", e.msg));
    if (last >= 0)
        event_ring_lose(&f->ring, last);
    st_watch_removals(f->st, on_removal, f);
}

void event_feed_end(struct event_feed *f)
{
    while (f->removals) {
        struct removal *r = take_first(f);
        event_ring_lose(&f->ring, r->one.seq);
        removal_free(r);
    }
    event_ring_reset(&f->ring, 0);
    f->is_on = false;
}
