/* SPDX-License-Identifier: MIT
 *
 * Sends events from the table of changes. So a client that connects late gets all events that the
 * table still has, and a slow client costs no memory: the next BATCH rows are rendered when the
 * client can receive them. While a client waits, a timer looks for new rows.
 */
#include "api/testing/events.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "api/access/access.h"
#include "api/http/stream.h"
#include "api/testing/change_text.h"
#include "api/testing/errors.h"
#include "api/testing/routes.h"
#include "api/testing/testing.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define BATCH   200
#define LOOK_MS 20
/* a stream sends at least a comment this often, so that the client notices a dead connection */
#define ALIVE_MS      10000
#define TIMEOUT_MAX_S 600
#define TYPE_LINES    "application/x-ndjson"
#define TYPE_STREAM   "text/event-stream"

/* A client that reads events. */
struct follower {
    struct testing_events *all;
    struct request *r; /* for JSON lines; NULL when the request has its reply */
    struct reply_stream *stream;
    const char *subscription; /* owned; NULL: events of all subscriptions */
    int64_t after;
    int max;
    uint64_t until_ms;             /* when the wait ends */
    struct follower **prev, *next; /* prev NULL: the follower does not wait */
};

struct testing_events {
    uv_loop_t *loop;
    struct storage *st;
    uv_timer_t *timer; /* owned; NULL: nobody waits */
    struct follower *waiting;
    bool ended; /* the server is stopping, so the storage may not exist any more */
};

static void on_closed(uv_handle_t *h)
{
    free(h);
}

static void unlink_one(struct follower *f)
{
    if (!f->prev)
        return;
    *f->prev = f->next;
    if (f->next)
        f->next->prev = f->prev;
    f->prev = NULL;
    if (f->all->waiting)
        return;
    uv_close((uv_handle_t *)f->all->timer, on_closed);
    f->all->timer = NULL;
}

static void follower_free(void *ctx)
{
    struct follower *f = ctx;
    unlink_one(f);
    free((char *)(uintptr_t)f->subscription);
    free(f);
}

/* --- texts -------------------------------------------------------------------------------------
 */

static void add_event(struct strbuf *out, const struct follower *f, const struct change *c,
                      json_t *shown)
{
    json_auto_t *stolen = shown;
    if (f->stream)
        strbuf_printf(out, "id: %lld\ndata: ", (long long)c->seq);
    jsontext_add(out, stolen);
    strbuf_puts(out, f->stream ? "\n\n" : "\n");
}

/* Appends the changes after number `after` that exist now, and advances `after` past them. */
static int collect(struct follower *f, struct strbuf *out, struct err *e)
{
    struct arena a;
    struct change_rows rows;
    int rc;
    arena_init(&a);
    do {
        rc = st_changes_since(f->all->st, &a, &(struct st_page){.after = f->after, .limit = f->max},
                              &rows, e);
        for (size_t i = 0; rc == 0 && i < rows.n; i++) {
            json_t *shown = change_render(&rows.items[i], f->subscription);
            f->after = rows.items[i].seq;
            if (shown)
                add_event(out, f, &rows.items[i], shown);
        }
    } while (rc == 0 && rows.n == (size_t)f->max && out->len == 0); /* all in other subscriptions */
    arena_free(&a);
    return rc;
}

/* --- waiting requests ------------------------------------------------------------------------- */

static REPLIED lines(struct follower *f, struct strbuf *out)
{
    reply_header(f->r, "x-batchaid-last-event", "%lld", (long long)f->after);
    return reply_text(f->r, 200, TYPE_LINES, strbuf_take(out));
}

/* Sends new changes to a client. `ends`: replies with the changes that exist now, even if there are
 * none. */
static void look(struct follower *f, uint64_t now_ms, bool ends)
{
    struct strbuf out = STRBUF_INIT;
    struct err e;
    int rc = f->all->ended ? 0 : collect(f, &out, &e);
    bool late = ends || now_ms >= f->until_ms;
    if (rc == 0 && out.len == 0 && !late)
        return;
    unlink_one(f);
    if (f->stream) {
        if (rc == 0 && out.len == 0 && !ends)
            strbuf_puts(&out, ":\n\n");
        stream_take(f->stream, out.s, rc == 0 && !ends ? out.len : 0);
        return;
    }
    struct request *r = f->r;
    request_finish(r, rc < 0 ? reply_err(r, &e) : lines(f, &out));
    strbuf_free(&out);
}

static void look_at_all(struct testing_events *all, bool ends)
{
    uint64_t now = uv_now(all->loop);
    for (struct follower *f = all->waiting, *next; f; f = next) {
        next = f->next;
        look(f, now, ends);
    }
}

/* Reads changes only if all are on disk, because another change may still be rolled back. */
static void on_time(uv_timer_t *timer)
{
    struct testing_events *all = timer->data;
    if (all->ended || !st_has_pending(all->st))
        look_at_all(all, all->ended);
}

static void wait_for_more(struct follower *f, uint64_t ms)
{
    struct testing_events *all = f->all;
    f->until_ms = uv_now(all->loop) + ms;
    if (!all->timer) {
        all->timer = xcalloc(1, sizeof *all->timer);
        uv_timer_init(all->loop, all->timer);
        all->timer->data = all;
        uv_timer_start(all->timer, on_time, 0, LOOK_MS);
    }
    f->prev = &all->waiting;
    f->next = all->waiting;
    if (f->next)
        f->next->prev = &f->next;
    all->waiting = f;
}

static int on_fetch(void *ctx, struct reply_stream *s, uint64_t offset, size_t max)
{
    struct follower *f = ctx;
    (void)offset, (void)max; /* a batch is much smaller than a piece */
    f->stream = s;
    wait_for_more(f, ALIVE_MS);
    return 0;
}

/* --- life --------------------------------------------------------------------------------------
 */

struct testing_events *testing_events_create(uv_loop_t *loop, struct storage *st)
{
    struct testing_events *all = xcalloc(1, sizeof *all);
    *all = (struct testing_events){.loop = loop, .st = st};
    return all;
}

void testing_events_hurry(struct testing_events *all)
{
    if (!all)
        return;
    look_at_all(all, true);
    all->ended = true;
}

void testing_events_free(struct testing_events *all)
{
    free(all);
}

/* --- the request -------------------------------------------------------------------------------
 */

static bool wants_stream(const struct request *r)
{
    const char *accept = request_header(r, "Accept");
    return accept && strstr(accept, TYPE_STREAM);
}

static int read_query(struct request *r, struct follower *f, int64_t *timeout_ms, struct err *e)
{
    long after, max;
    struct subscription s;
    const char *last = request_header(r, "Last-Event-ID"), *id = request_query(r, "subscription");
    if (request_query_int(r, "after", (struct query_bounds){0, LONG_MAX, 0}, &after, e) < 0 ||
        request_query_int(r, "max", (struct query_bounds){1, BATCH, BATCH}, &max, e) < 0 ||
        request_query_seconds(r, "timeoutSeconds", TIMEOUT_MAX_S, timeout_ms, e) < 0)
        return -1;
    f->max = (int)max;
    f->after = after;
    if (last && *last) {
        char *end;
        f->after = strtoll(last, &end, 10);
        if (*end || f->after < 0)
            return err_set(e, ERR_INVALID_QUERY, "Last-Event-ID",
                           "The header Last-Event-ID is '%.60s'; it must be the id of an event.",
                           last);
    }
    if (!id)
        return 0;
    int rc = access_subscription(testing_of(r)->arm.access, &r->arena, id, &s, e);
    if (rc == 0)
        return err_set(e, ARM_SUBSCRIPTION_NOT_FOUND, "subscription",
                       "The subscription '%.100s' could not be found.", id);
    f->subscription = rc > 0 ? xstrdup(s.guid) : NULL;
    return rc < 0 ? -1 : 0;
}

static REPLIED begin_stream(struct request *r, struct follower *f)
{
    const struct stream_source source = {.fetch = on_fetch, .release = follower_free, .ctx = f};
    reply_header_text(r, "Cache-Control", "no-cache");
    return reply_stream(r, 200, TYPE_STREAM, 0, UINT64_MAX, &source);
}

static REPLIED begin_lines(struct request *r, struct follower *f, int64_t timeout_ms)
{
    struct err e;
    struct strbuf out = STRBUF_INIT;
    f->r = r;
    request_keep(r, f, follower_free);
    int rc = f->all->ended ? 0 : collect(f, &out, &e);
    if (rc < 0) {
        strbuf_free(&out);
        return reply_err(r, &e);
    }
    if (out.len > 0 || timeout_ms == 0 || f->all->ended)
        return lines(f, &out);
    strbuf_free(&out);
    wait_for_more(f, (uint64_t)timeout_ms);
    return reply_later(r);
}

struct replied *events_follow(struct request *r)
{
    struct err e;
    int64_t timeout_ms = 0;
    struct follower *f = xcalloc(1, sizeof *f);
    f->all = testing_of(r)->events;
    if (read_query(r, f, &timeout_ms, &e) < 0) {
        follower_free(f);
        return reply_err(r, &e);
    }
    return wants_stream(r) ? begin_stream(r, f) : begin_lines(r, f, timeout_ms);
}
