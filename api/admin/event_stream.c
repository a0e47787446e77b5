/* SPDX-License-Identifier: MIT
 *
 * Streams and their rounds. While there are streams, a timer of one second checks rights, sends
 * comments to silent clients and looks for changed machines. A stream ends when its client leaves
 * or the server stops, or when its login or its rights have ended; then its last event is `end`.
 */
#include "api/admin/event_stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/admin/errors.h"
#include "api/admin/event_stream_priv.h"
#include "api/admin/routes.h"
#include "api/http/live.h"
#include "api/http/session.h"
#include "lib/jsontext.h"
#include "scheduler/fleet/fleet.h"
#include "storage/storage.h"

#define ROUND_MS     250
#define TICK_MS      1000
#define SILENCE_MS   15000
#define SESSION_MS   5000
#define RETRY_MS     2000 /* how long clients wait before they connect again */
#define BATCH_BYTES  (128 * 1024)
#define TURN_NS      2000000 /* of each turn of the loop, for streams */
#define LOOKED_MAX   512     /* events that are checked for one text */
#define MACHINES_MAX 200     /* names in one event */
#define TYPE         "text/event-stream"

struct stream {
    struct stream *next;
    struct event_streams *all;
    struct event_viewer *viewer;
    struct live *live;
    const struct api_config *config;
    unsigned version;  /* event_viewer.version that it has */
    int64_t at;        /* ring position of its next event */
    int64_t wanted;    /* events after this number are being read for it; -1: none are */
    uint64_t machines; /* number of the last change it got */
    uint64_t sent_ms;
    int64_t login_ends_us;  /* 0: no known end */
    struct session session; /* id "": the client has a token */
    uint64_t asked_ms;      /* when the session was last checked */
    bool ended;
};

struct event_streams {
    uv_loop_t *loop;
    const struct fleet *fl;
    struct event_feed feed;
    struct event_viewers viewers;
    struct stream *first;
    size_t n;
    struct stream *turn; /* the next to serve in this round */
    uv_timer_t *tick, *round;
    uv_idle_t *work;   /* tick, round, work: NULL without streams */
    uint64_t round_ms; /* the end of the last round */
    bool again;        /* another round is due */
    uint64_t machines; /* the number of the last change of machines that was sent */
};

/* --- rounds are due -----------------------------------------------------------------------------
 */

static void on_round(uv_timer_t *t);
static void on_work(uv_idle_t *i);
static void on_tick(uv_timer_t *t);

static void plan(struct event_streams *all)
{
    if (!all->work || uv_is_active((uv_handle_t *)all->round))
        return;
    if (uv_is_active((uv_handle_t *)all->work)) {
        all->again = true;
        return;
    }
    uint64_t now = uv_now(all->loop), due = all->round_ms + ROUND_MS;
    uv_timer_start(all->round, on_round, due > now ? due - now : 0, 0);
}

static void on_grown(void *ctx)
{
    plan(ctx);
}

static void on_events(void *ctx, int64_t on_disk)
{
    (void)on_disk;
    plan(ctx);
}

static bool lacks(const struct stream *s)
{
    return s->at < s->all->feed.ring.end || s->wanted >= 0 || s->machines < s->all->machines ||
           s->version != s->viewer->version;
}

static void on_ready(void *ctx)
{
    struct stream *s = ctx;
    if (!s->ended && lacks(s))
        plan(s->all);
}

/* --- life ---------------------------------------------------------------------------------------
 */

static void on_handle_closed(uv_handle_t *h)
{
    free(h);
}

static void stop_handles(struct event_streams *all)
{
    uv_close((uv_handle_t *)all->tick, on_handle_closed);
    uv_close((uv_handle_t *)all->round, on_handle_closed);
    uv_close((uv_handle_t *)all->work, on_handle_closed);
    all->tick = all->round = NULL;
    all->work = NULL;
    event_feed_end(&all->feed);
}

static void start_handles(struct event_streams *all)
{
    all->tick = xcalloc(1, sizeof *all->tick);
    all->round = xcalloc(1, sizeof *all->round);
    all->work = xcalloc(1, sizeof *all->work);
    uv_timer_init(all->loop, all->tick);
    uv_timer_init(all->loop, all->round);
    uv_idle_init(all->loop, all->work);
    all->tick->data = all->round->data = all->work->data = all;
    all->machines = fleet_changes(all->fl);
    uv_timer_start(all->tick, on_tick, TICK_MS, TICK_MS);
}

static void on_closed(void *ctx)
{
    struct stream *s = ctx;
    struct event_streams *all = s->all;
    struct stream **at = &all->first;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    if (all->turn == s)
        all->turn = s->next;
    event_viewer_leave(&all->viewers, s->viewer);
    free(s);
    if (--all->n == 0)
        stop_handles(all);
}

static const struct live_events of_client = {.ready = on_ready, .closed = on_closed};

/* --- texts --------------------------------------------------------------------------------------
 */

static void add_event(struct strbuf *b, const char *type, json_t *data)
{
    json_auto_t *stolen = data;
    strbuf_concat(b, "event: ", type, "\ndata: ");
    jsontext_add(b, stolen);
    strbuf_putc(b, '\n');
}

static void add_reason(struct strbuf *b, const char *type, const char *why)
{
    add_event(b, type, json_pack("{s:o}", "reason", jsontext_string(why)));
}

/* The id contains a hash of the viewer's roles. It shows when a client continues with other roles:
 * the client may lack events that it may see now, and have events that it may not see. */
static void add_id(struct strbuf *b, const char *id, const struct event_viewer *v)
{
    strbuf_printf(b, "id: %s-%08x\n", id, event_viewer_mark(v));
}

/* Adds the events from position `at` on that the viewer may see, up to BATCH_BYTES. Returns the
 * position after the last event that was checked. */
static int64_t add_changes(struct strbuf *b, const struct event_ring *g,
                           const struct event_viewer *v, int64_t at)
{
    size_t shown = 0, begun = b->len;
    const char *id = NULL;
    int64_t end = g->end - at > LOOKED_MAX ? at + LOOKED_MAX : g->end;
    for (; at < end && b->len - begun < BATCH_BYTES; at++) {
        const struct ring_event *ev = event_ring_get(g, at);
        id = ev->id;
        if (!event_viewer_sees(v, ev))
            continue;
        strbuf_puts(b, shown++ > 0 ? "," : "event: changes\ndata: {\"value\":[");
        strbuf_add(b, ev->text, ev->n);
    }
    if (shown > 0) {
        strbuf_puts(b, "]}\n");
        add_id(b, id, v);
        strbuf_putc(b, '\n');
    }
    return at;
}

static void add_machines(struct strbuf *b, const struct fleet *fl, uint64_t since)
{
    const char *names[MACHINES_MAX];
    size_t n = fleet_changed_since(fl, since, names, MACHINES_MAX);
    json_t *list = json_array();
    for (size_t i = 0; n <= MACHINES_MAX && i < n; i++)
        json_array_append_new(list, jsontext_string(names[i]));
    add_event(b, "machines",
              json_pack("{s:o, s:b}", "value", list, "all", (int)(n > MACHINES_MAX)));
    strbuf_putc(b, '\n');
}

/* Makes the next text of a stream; streams of viewers with equal roles share it. NULL: the viewers
 * may see none of the new events. */
static struct live_text *make_text(struct stream *s)
{
    struct event_streams *all = s->all;
    struct event_texts *t = s->viewer->texts;
    struct strbuf b = STRBUF_INIT;
    bool same = t->is_made && t->from == s->at && t->end == all->feed.ring.end &&
                t->machines == s->machines;
    if (!same) {
        live_text_drop(t->text);
        *t = (struct event_texts){.viewers = t->viewers,
                                  .from = s->at,
                                  .end = all->feed.ring.end,
                                  .machines = s->machines,
                                  .to_machines = all->machines,
                                  .is_made = true};
        t->to = add_changes(&b, &all->feed.ring, s->viewer, s->at);
        if (s->machines < all->machines && s->viewer->sees_machines)
            add_machines(&b, all->fl, s->machines);
        t->text = b.len > 0 ? live_text_new(&b) : NULL;
    }
    s->at = t->to;
    s->machines = t->to_machines;
    return t->text;
}

/* --- a stream in a round ------------------------------------------------------------------------
 */

static void push(struct stream *s, struct live_text *t)
{
    s->sent_ms = uv_now(s->all->loop);
    live_push(s->live, t);
}

static void push_own(struct stream *s, struct strbuf *b)
{
    struct live_text *t = live_text_new(b);
    push(s, t);
    live_text_drop(t);
}

/* Tells the client to read its lists again; the stream continues after the newest event. */
static void push_reset(struct stream *s, const char *why)
{
    struct strbuf b = STRBUF_INIT;
    add_reason(&b, "reset", why);
    add_id(&b, s->all->feed.id, s->viewer);
    strbuf_putc(&b, '\n');
    s->at = s->all->feed.ring.end;
    s->wanted = -1;
    s->version = s->viewer->version;
    s->machines = s->all->machines;
    push_own(s, &b);
}

/* If the events that the stream waits for have been read, gives it a position in the ring. */
static void settle(struct stream *s)
{
    const struct event_feed *f = &s->all->feed;
    if (s->wanted < 0 || f->ring.after > s->wanted || f->read < s->wanted ||
        event_ring_lacks(&f->ring, s->wanted))
        return;
    s->at = event_ring_find(&f->ring, s->wanted);
    s->wanted = -1;
}

/* The reason why the stream has to be reset; NULL: it does not have to be. */
static const char *why_lost(const struct stream *s)
{
    const struct event_feed *f = &s->all->feed;
    if (s->version != s->viewer->version)
        return "your roles have changed";
    if (s->wanted >= 0)
        return event_ring_lacks(&f->ring, s->wanted) ||
                       (f->back == FEED_NOT_BACK && f->ring.after > s->wanted)
                   ? "more events happened meanwhile than the daemon keeps for streams"
                   : NULL;
    return s->at < f->ring.first ? "you read more slowly than events happen" : NULL;
}

static void serve(struct stream *s)
{
    if (s->ended || s->viewer->gone || !live_is_ready(s->live) || !lacks(s))
        return;
    settle(s);
    const char *why = why_lost(s);
    if (why)
        push_reset(s, why);
    if (why || s->wanted >= 0)
        return;
    struct live_text *t = make_text(s);
    if (t)
        push(s, t);
}

/* --- a round ------------------------------------------------------------------------------------
 */

static void on_round(uv_timer_t *t)
{
    struct event_streams *all = t->data;
    event_feed_round(&all->feed);
    all->turn = all->first;
    uv_idle_start(all->work, on_work);
}

static bool is_behind(const struct event_streams *all)
{
    for (const struct stream *s = all->first; s; s = s->next)
        if (!s->ended && !s->viewer->gone && live_is_ready(s->live) && lacks(s))
            return true;
    return false;
}

static void end_round(struct event_streams *all)
{
    uv_idle_stop(all->work);
    event_viewers_forget(&all->viewers);
    all->round_ms = uv_now(all->loop);
    bool more = all->feed.read < all->feed.goal && !all->feed.failed;
    if (all->again || more || is_behind(all)) {
        all->again = false;
        plan(all);
    }
}

static void on_work(uv_idle_t *i)
{
    struct event_streams *all = i->data;
    if (event_feed_more(&all->feed))
        return;
    for (uint64_t begun = uv_hrtime(); all->turn && uv_hrtime() - begun < TURN_NS;) {
        struct stream *s = all->turn;
        all->turn = s->next;
        serve(s);
    }
    if (!all->turn)
        end_round(all);
}

/* --- time ---------------------------------------------------------------------------------------
 */

static void end(struct stream *s, const char *why)
{
    struct strbuf b = STRBUF_INIT;
    add_reason(&b, "end", why);
    strbuf_putc(&b, '\n');
    struct live_text *t = live_text_new(&b);
    s->ended = true;
    LOG_INFO(s->all->feed.log, "event_stream.ended", LF_STR("principal", s->viewer->name),
             LF_STR("why", why));
    live_end(s->live, t);
    live_text_drop(t);
}

/* Sends a comment, so that the connection is not silent. Also sends the id of the newest event,
 * because the client may not have got that event; but not before a reset that is due, because a
 * client with the id of its new roles would not be reset. */
static void say_something(struct stream *s)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, ":\n");
    if (!lacks(s))
        add_id(&b, s->all->feed.id, s->viewer);
    strbuf_putc(&b, '\n');
    push_own(s, &b);
}

/* Whether the login is still valid. A session ends with its logout, or when the secret of its login
 * ends. */
static bool has_login(struct stream *s, uint64_t now)
{
    const struct directory *d = s->config->directory;
    int64_t now_us = clock_now(&s->config->clock);
    struct err e;
    if (s->login_ends_us && now_us >= s->login_ends_us)
        return false;
    if (*s->session.id == '\0' || now - s->asked_ms < SESSION_MS)
        return true;
    s->asked_ms = now;
    return d->goes_on(d->ctx, &s->session, now_us, &e) == 1;
}

static void look_after(struct stream *s, uint64_t now)
{
    if (s->ended)
        return;
    if (s->viewer->gone)
        end(s, s->viewer->gone);
    else if (!has_login(s, now))
        end(s, "your login has ended");
    else if (now - s->sent_ms >= SILENCE_MS && live_is_ready(s->live))
        say_something(s);
}

static void on_tick(uv_timer_t *t)
{
    struct event_streams *all = t->data;
    uint64_t now = uv_now(all->loop);
    event_viewers_ask(&all->viewers, now);
    for (struct stream *s = all->first, *next; s; s = next) {
        next = s->next;
        look_after(s, now);
    }
    all->machines = fleet_changes(all->fl);
    if (is_behind(all))
        plan(all);
}

/* --- opening ------------------------------------------------------------------------------------
 */

static int check_number(const struct event_streams *all, const struct request *r, struct err *e)
{
    size_t own = event_viewer_streams(&all->viewers, r->who->object_id), most = live_most(r);
    if (own >= EVENT_STREAMS_OF_ONE_MAX)
        return err_set(e, ADMIN_TOO_MANY_STREAMS, NULL,
                       "You have %zu event streams open, which is the limit for one user; close "
                       "some streams, or let browser tabs share a stream.",
                       own);
    if (all->n >= EVENT_STREAMS_MAX || all->n >= most)
        return err_set(
            e, ERR_UNAVAILABLE, NULL,
            "%zu event streams are open, which is the limit of the daemon; try again later.",
            all->n);
    return 0;
}

static struct live_text *first_text(const struct stream *s, bool resumes, const char *why)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "retry: %d\n", RETRY_MS);
    if (why)
        add_reason(&b, "reset", why);
    if (!resumes)
        add_id(&b, s->all->feed.id, s->viewer);
    strbuf_putc(&b, '\n');
    return live_text_new(&b);
}

/* Adds a stream. -1: err, and no stream was added. */
static int enter(struct event_streams *all, const struct request *r, struct stream **out,
                 struct err *e)
{
    struct event_viewer *v;
    uint64_t now = uv_now(all->loop);
    if (event_viewer_enter(&all->viewers, r->who, now, &v, e) < 0)
        return -1;
    struct stream *s = xcalloc(1, sizeof *s);
    *s = (struct stream){.next = all->first,
                         .all = all,
                         .viewer = v,
                         .config = r->config,
                         .version = v->version,
                         .at = all->feed.ring.end,
                         .wanted = -1,
                         .sent_ms = now,
                         .asked_ms = now,
                         .login_ends_us = r->login_ends_us};
    if (r->session)
        s->session = *r->session;
    if (all->n++ == 0)
        start_handles(all);
    s->machines = all->machines;
    all->first = s;
    *out = s;
    return 0;
}

struct replied *events_follow_all(struct request *r)
{
    struct event_streams *all = admin_of(r)->event_streams;
    struct event_from from;
    struct stream *s = NULL;
    const char *why = NULL;
    struct err e;
    if (event_from_read(r, &from, &e) < 0 || check_number(all, r, &e) < 0 ||
        (all->n == 0 && event_feed_begin(&all->feed, &e) < 0) ||
        event_from_judge(&all->feed, r, &from, &why, &e) < 0 || enter(all, r, &s, &e) < 0) {
        if (all->n == 0)
            event_feed_end(&all->feed);
        return reply_err(r, &e);
    }
    if (!why && from.has_roles && from.roles != event_viewer_mark(s->viewer))
        why = "your roles have changed";
    bool resumes = from.is_given && !why;
    if (resumes) {
        s->wanted = from.seq;
        if (from.seq < all->feed.ring.after && from.seq < all->feed.back)
            all->feed.back = from.seq;
        plan(all);
    }
    reply_header_text(r, "Cache-Control", "no-store");
    reply_header_text(r, "X-Accel-Buffering", "no");
    struct replied *done =
        reply_live(r, TYPE, first_text(s, resumes, why), &of_client, s, &s->live, &e);
    if (done)
        return done;
    on_closed(s);
    return reply_err(r, &e);
}

struct event_streams *event_streams_create(uv_loop_t *loop, struct loop *time,
                                           const struct log *log, struct storage *st,
                                           const struct access *access, struct fleet *fl)
{
    struct event_streams *all = xcalloc(1, sizeof *all);
    *all = (struct event_streams){.loop = loop, .fl = fl, .viewers = {.access = access}};
    all->feed = (struct event_feed){.log = log,
                                    .st = st,
                                    .fl = fl,
                                    .back = FEED_NOT_BACK,
                                    .loop = time,
                                    .grown = on_grown,
                                    .ctx = all};
    event_feed_watch(&all->feed);
    st_watch_events(st, on_events, all);
    return all;
}

void event_streams_free(struct event_streams *all)
{
    assert(!all || (all->n == 0 && !all->viewers.list));
    free(all);
}
