/* SPDX-License-Identifier: MIT
 *
 * A service that takes bodies of any length, through the real server.
 */
#include "test/unit/api/http/server.h"

#include "api/http/body.h"
#include "lib/arena.h"

#define MIB   (1024 * 1024)
#define GIB   (1024 * (size_t)MIB)
#define CHUNK (256 * 1024)

/* What the service does with a body, and what it saw of it. */
struct taker {
    uv_timer_t timer;
    struct request *r;
    size_t budget; /* bytes that it still takes */
    atomic_size_t took;
    int ended, released, let_go;
    bool refuse_at_once, answer_early;
};

static size_t take(void *ctx, const char *bytes, size_t n)
{
    struct taker *t = ctx;
    assert_int_equal(bytes[0], 'x');
    size_t some = n < t->budget ? n : t->budget;
    t->budget -= some;
    t->took += some;
    if (t->answer_early)
        request_finish(t->r, reply_empty(t->r, 507));
    return some;
}

static void end(void *ctx)
{
    struct taker *t = ctx;
    t->ended++;
    request_finish(t->r, reply_empty(t->r, 201));
}

static void release(void *ctx)
{
    struct taker *t = ctx;
    t->released++;
}

/* The sink may point into what is kept, so it goes first. */
static void let_go(void *kept)
{
    struct taker *t = kept;
    t->let_go++;
    assert_int_equal(t->released, t->let_go);
}

static struct replied *upload(struct request *r)
{
    struct taker *t = (struct taker *)(uintptr_t)r->deps;
    t->r = r;
    if (t->refuse_at_once)
        return reply_empty(r, 409);
    request_keep(r, t, let_go);
    const struct body_sink sink = {take, end, release, t};
    return request_stream(r, &sink);
}

static const struct route routes[] = {{"PUT", "/{path*}", 0, ROUTE_STREAM, upload, "Upload"}};
static const struct service uploads = {
    .name = "uploads", .routes = routes, .n_routes = 1, .versions = VERSIONS_NONE};

/* --- the client ----------------------------------------------------------------------------- */

struct sender {
    struct http_world *w;
    size_t length;
    atomic_size_t sent;
    bool hang_up_half_way;
    char reply[4096];
};

static void *send_body(void *ctx)
{
    struct sender *s = ctx;
    struct client c;
    char *chunk = xcalloc(1, CHUNK), head[200];
    memset(chunk, 'x', CHUNK);
    client_open(&c, s->w->port);
    int n =
        snprintf(head, sizeof head,
                 "PUT /file HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", s->length);
    client_send(&c, head, (size_t)n);
    size_t stop = s->hang_up_half_way ? s->length / 2 : s->length;
    while (s->sent < stop) {
        size_t left = stop - s->sent;
        client_send(&c, chunk, left < CHUNK ? left : CHUNK);
        s->sent += left < CHUNK ? left : CHUNK;
    }
    if (!s->hang_up_half_way)
        client_read(&c, s->reply, sizeof s->reply, false);
    client_close(&c);
    free(chunk);
    uv_async_send(&s->w->client_done);
    return NULL;
}

static size_t resident(void)
{
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*u %zu", &pages), 1);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

#ifdef __SANITIZE_ADDRESS__
/* What is freed and kept aside by the sanitizer is not the server's. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=1:thread_local_quarantine_size_kb=16";
}
#endif

TEST(a_gibibyte_is_taken_in_flat_memory)
{
    struct http_world w;
    struct taker t = {.budget = SIZE_MAX};
    struct served served = {&uploads, &t, NULL};
    world_open(&w, &served, 1);
    struct sender first = {.w = &w, .length = MIB}, s = {.w = &w, .length = GIB};
    run_with(&w, send_body, &first); /* what is allocated once is there now */
    size_t before = resident();
    run_with(&w, send_body, &s);
    size_t grown = resident() > before ? resident() - before : 0;
    assert_int_equal(strncmp(s.reply, "HTTP/1.1 201", 12), 0);
    assert_int_equal(t.took, GIB + MIB);
    assert_int_equal(t.ended, 2);
    assert_int_equal(t.released, 2);
    if (grown > 32 * MIB) /* a sanitizer keeps up to 16 MB of freed blocks */
        fail_msg("grew by %zu bytes", grown);
    world_close(&w);
}

/* Opens the sink once the client has got no further for a while. */
static void open_when_stuck(uv_timer_t *timer)
{
    struct sender *s = timer->data;
    static size_t before;
    struct taker *t = (struct taker *)timer;
    if (s->sent == 0 || s->sent != before) {
        before = s->sent;
        return;
    }
    assert_true(s->sent < 32 * MIB);
    assert_int_equal(t->took, MIB);
    t->budget = SIZE_MAX;
    body_more(t->r);
    uv_timer_stop(timer);
    uv_close((uv_handle_t *)timer, NULL);
}

TEST(a_slow_service_slows_its_client_down)
{
    struct http_world w;
    struct taker t = {.budget = MIB};
    struct served served = {&uploads, &t, NULL};
    world_open(&w, &served, 1);
    struct sender s = {.w = &w, .length = 100 * (size_t)MIB};
    uv_timer_init(&w.loop, &t.timer);
    t.timer.data = &s;
    uv_timer_start(&t.timer, open_when_stuck, 200, 200);
    run_with(&w, send_body, &s);
    assert_int_equal(strncmp(s.reply, "HTTP/1.1 201", 12), 0);
    assert_int_equal(t.took, s.length);
    world_close(&w);
}

TEST(a_client_that_leaves_ends_its_upload)
{
    struct http_world w;
    struct taker t = {.budget = SIZE_MAX};
    struct served served = {&uploads, &t, NULL};
    world_open(&w, &served, 1);
    struct sender s = {.w = &w, .length = 2 * (size_t)MIB, .hang_up_half_way = true};
    run_with(&w, send_body, &s);
    while (!t.released)
        uv_run(&w.loop, UV_RUN_ONCE);
    assert_int_equal(t.released, 1);
    assert_int_equal(t.let_go, 1);
    assert_int_equal(t.ended, 0);
    world_close(&w);
}

TEST(an_answer_before_the_end_is_read_after_it)
{
    for (int at_once = 0; at_once < 2; at_once++) {
        struct http_world w;
        struct taker t = {.budget = SIZE_MAX, .refuse_at_once = at_once, .answer_early = !at_once};
        struct served served = {&uploads, &t, NULL};
        world_open(&w, &served, 1);
        struct sender s = {.w = &w, .length = 4 * (size_t)MIB};
        run_with(&w, send_body, &s);
        assert_int_equal(strncmp(s.reply, at_once ? "HTTP/1.1 409" : "HTTP/1.1 507", 12), 0);
        assert_int_equal(t.ended, 0);
        assert_int_equal(t.released, !at_once);
        world_close(&w);
    }
}

/* The server stops while a service takes nothing: it does not wait for ever. */
TEST(a_stopping_server_gives_stuck_uploads_up)
{
    struct http_world w;
    struct taker t = {.budget = 0};
    struct served served = {&uploads, &t, NULL};
    world_open(&w, &served, 1);
    pthread_t thread;
    struct sender s = {.w = &w, .length = 1000};
    assert_int_equal(pthread_create(&thread, NULL, send_body, &s), 0);
    while (!t.r || !t.r->starved)
        uv_run(&w.loop, UV_RUN_ONCE);
    api_stop(w.api, on_stopped, &w);
    while (w.api)
        uv_run(&w.loop, UV_RUN_ONCE);
    pthread_join(thread, NULL);
    world_free(&w);
    assert_int_equal(t.released, 1);
    assert_int_equal(t.let_go, 1);
    assert_string_equal(s.reply, "");
}
