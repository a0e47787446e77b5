/* SPDX-License-Identifier: MIT
 *
 * Replies without an end, through the real server: what is pushed arrives, what ends them, and that
 * their user is told of the end exactly once.
 */
#include "test/unit/api/http/server.h"

#include "api/http/live.h"

#define PUSHES 3

/* The service's side. */
struct feed {
    struct http_world *w;
    struct live *live;
    uv_timer_t timer;
    int ready, closed, pushed;
    bool writes;   /* the handler does, and the commit fails */
    bool endless;  /* it never ends by itself */
    size_t length; /* of a push; 0: a few bytes */
};

static struct live_text *text_of(const char *text, size_t length)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, text);
    while (b.len < length)
        strbuf_putc(&b, 'x');
    return live_text_new(&b);
}

static void on_ready(void *ctx)
{
    struct feed *f = ctx;
    f->ready++;
}

static void on_closed(void *ctx)
{
    struct feed *f = ctx;
    f->closed++;
    f->live = NULL;
}

static const struct live_events events = {.ready = on_ready, .closed = on_closed};

static void on_time(uv_timer_t *t)
{
    struct feed *f = t->data;
    if (!f->live || !live_is_ready(f->live))
        return;
    bool last = f->pushed == PUSHES && !f->endless;
    struct live_text *text = text_of(last ? "bye" : "push ", f->length);
    if (last)
        live_end(f->live, text);
    else
        live_push(f->live, text);
    f->pushed += !last;
    live_text_drop(text);
}

static struct replied *follow(struct request *r)
{
    struct feed *f = (struct feed *)(uintptr_t)r->deps;
    struct err e;
    f->w->wrote = f->w->full = f->writes;
    struct replied *done =
        reply_live(r, "text/plain", text_of("first ", 0), &events, f, &f->live, &e);
    return done ? done : reply_err(r, &e);
}

static const struct route routes[] = {{"GET", "/feed", 0, 0, follow, "Follow"}};
static const struct service feeds = {
    .name = "feeds", .routes = routes, .n_routes = 1, .versions = VERSIONS_NONE};

/* --- the client ----------------------------------------------------------------------------- */

struct live_reader {
    struct http_world *w;
    const char *version;
    bool leaves; /* after the first bytes */
    bool reads;  /* to the end */
    char reply[8192];
};

static void *read_feed(void *ctx)
{
    struct live_reader *r = ctx;
    struct client c;
    char head[100];
    client_open(&c, r->w->port);
    int n =
        snprintf(head, sizeof head, "GET /feed %s\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                 r->version ? r->version : "HTTP/1.1");
    client_send(&c, head, (size_t)n);
    if (r->reads)
        client_read(&c, r->reply, sizeof r->reply, true);
    else if (r->leaves)
        (void)gnutls_record_recv(c.tls, r->reply, sizeof r->reply - 1);
    else
        usleep(200000);
    client_close(&c);
    uv_async_send(&r->w->client_done);
    return NULL;
}

static void open_feed(struct http_world *w, struct feed *f, struct served *served)
{
    *served = (struct served){&feeds, f, NULL};
    world_open(w, served, 1);
    f->w = w;
    uv_timer_init(&w->loop, &f->timer);
    f->timer.data = f;
    uv_timer_start(&f->timer, on_time, 5, 5);
}

static void close_feed(struct http_world *w, struct feed *f)
{
    uv_close((uv_handle_t *)&f->timer, NULL);
    world_close(w);
    assert_int_equal(f->closed, 1);
}

TEST(what_is_pushed_arrives_and_the_end_is_the_users)
{
    static const char *const versions[] = {"HTTP/1.1", "HTTP/1.0"};
    for (size_t i = 0; i < 2; i++) {
        struct http_world w;
        struct feed f = {.pushed = 0};
        struct served served;
        open_feed(&w, &f, &served);
        struct live_reader r = {.w = &w, .version = versions[i], .reads = true};
        run_with(&w, read_feed, &r);
        const char *at = r.reply;
        static const char *const parts[] = {"200 OK", "first ", "push ", "push ", "push ", "bye"};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            at = strstr(at, parts[k]);
            assert_non_null(at);
            at += strlen(parts[k]);
        }
        assert_int_equal(strstr(r.reply, "chunked") != NULL, i == 0);
        assert_true(f.ready > PUSHES);
        close_feed(&w, &f);
    }
}

/* Nothing is pushed, so only the socket says so. */
TEST(a_client_that_leaves_is_noticed_at_once)
{
    struct http_world w;
    struct feed f = {.endless = true};
    struct served served;
    open_feed(&w, &f, &served);
    uv_timer_stop(&f.timer);
    struct live_reader r = {.w = &w, .leaves = true};
    run_with(&w, read_feed, &r);
    for (int i = 0; i < 1000 && !f.closed; i++)
        uv_run(&w.loop, UV_RUN_ONCE);
    assert_int_equal(f.closed, 1);
    close_feed(&w, &f);
}

TEST(a_client_that_does_not_read_costs_one_push)
{
    struct http_world w;
    struct feed f = {.endless = true, .length = 1024 * 1024};
    struct served served;
    open_feed(&w, &f, &served);
    struct live_reader r = {.w = &w};
    run_with(&w, read_feed, &r);
    assert_in_range(f.pushed, 1, 12); /* the client's window, and one */
    close_feed(&w, &f);
}

/* Nothing that was prepared in the turn happens. */
TEST(a_rollback_closes_it_before_it_begins)
{
    struct http_world w;
    struct feed f = {.writes = true};
    struct served served;
    open_feed(&w, &f, &served);
    w.log.level = LOG_LVL_ERROR + 1;
    struct live_reader r = {.w = &w, .reads = true};
    run_with(&w, read_feed, &r);
    assert_non_null(strstr(r.reply, " 500 "));
    assert_null(strstr(r.reply, "first"));
    close_feed(&w, &f);
}

static void stop_soon(uv_timer_t *t)
{
    uv_close((uv_handle_t *)t, NULL);
    struct http_world *w = t->data;
    uv_stop(&w->loop);
}

/* The client waits for bytes, or does not read any. */
TEST(a_server_that_stops_ends_it_at_once)
{
    for (int reads = 0; reads < 2; reads++) {
        struct http_world w;
        struct feed f = {.endless = true, .length = reads ? 0 : 1024 * 1024};
        struct served served;
        uv_timer_t soon;
        pthread_t thread;
        open_feed(&w, &f, &served);
        struct live_reader r = {.w = &w, .reads = reads};
        uv_timer_init(&w.loop, &soon);
        soon.data = &w;
        assert_int_equal(pthread_create(&thread, NULL, read_feed, &r), 0);
        while (f.pushed == 0)
            uv_run(&w.loop, UV_RUN_ONCE);
        uv_timer_stop(&f.timer);
        uv_timer_start(&soon, stop_soon, 50, 0);
        uv_run(&w.loop, UV_RUN_DEFAULT);
        uint64_t begun = uv_hrtime();
        uv_close((uv_handle_t *)&f.timer, NULL);
        api_stop(w.api, on_stopped, &w);
        while (w.api)
            uv_run(&w.loop, UV_RUN_ONCE);
        assert_true(uv_hrtime() - begun < UINT64_C(1500000000));
        assert_int_equal(f.closed, 1);
        pthread_join(thread, NULL);
        uv_run(&w.loop, UV_RUN_NOWAIT);
        world_free(&w);
    }
}
