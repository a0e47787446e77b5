/* SPDX-License-Identifier: MIT
 *
 * The server with services of the test's own: who answers, when, and with which headers.
 */
#include <microhttpd.h>

#include "api/http/error.h"
#include "lib/arena.h"
#include "lib/loop.h"
#include "test/unit/api/http/server.h"
#include "test/unit/support/says.h"

/* --- services ------------------------------------------------------------------------------- */

static struct replied *say(struct request *r)
{
    return reply_text(r, 200, "text/plain", xstrdup(r->deps));
}

/* Its second half is a step of its own. */
static void be_slow_again(struct request *r, void *ctx)
{
    (void)ctx;
    (void)usleep(LOOP_SLOW_US);
    request_finish(r, reply_empty(r, 200));
}

static struct replied *be_slow(struct request *r)
{
    (void)usleep(LOOP_SLOW_US);
    request_again(r, be_slow_again, NULL);
    return reply_later(r);
}

static struct replied *made(struct request *r)
{
    struct http_world *w = (struct http_world *)(uintptr_t)r->deps;
    w->wrote = true;
    reply_header(r, "Location", "/operations/1");
    return reply_empty(r, 202);
}

/* Answers when the turn ends, as what a node is asked for is sent then. */
static struct request *asked;

static struct replied *ask(struct request *r)
{
    assert_null(asked);
    asked = r;
    return reply_later(r);
}

static void answer_asked(void *ctx)
{
    (void)ctx;
    struct request *r = asked;
    asked = NULL;
    if (r)
        request_finish(r, reply_empty(r, 200));
}

/* Keeps the count of its releases; by the path: answers at once, refuses, answers at the turn's
 * end, releases it early, or takes it back. */
static void count_release(void *kept)
{
    ++*(int *)kept;
}

static struct replied *keep(struct request *r)
{
    struct err e;
    request_keep(r, (void *)(uintptr_t)r->deps, count_release);
    if (strcmp(r->path, "/later") == 0)
        return ask(r);
    if (strcmp(r->path, "/early") == 0) {
        request_release(r);
        assert_int_equal(*(const int *)r->deps, 1);
    } else if (strcmp(r->path, "/back") == 0) {
        assert_ptr_equal(request_take_back(r), r->deps);
    } else if (strcmp(r->path, "/refused") == 0) {
        err_set(&e, ERR_NOT_SUPPORTED, NULL, "not like this");
        return reply_err(r, &e);
    }
    assert_int_equal(*(const int *)r->deps, strcmp(r->path, "/early") == 0);
    return reply_empty(r, 200);
}

/* Gives the request what is in the service's data, and texts. */
static struct replied *own(struct request *r)
{
    json_t *value = (json_t *)(uintptr_t)r->deps;
    for (int i = 0; i < 20; i++) { /* more than there is room for at first */
        assert_ptr_equal(request_own(r, json_incref(value)), value);
        assert_string_equal(request_own_text(r, xstrdup("text")), "text");
        assert_string_equal(request_own_secret(r, xstrdup("secret")), "secret");
    }
    assert_null(request_own(r, NULL));
    assert_null(request_own_text(r, NULL));
    assert_null(request_own_secret(r, NULL));
    return strcmp(r->path, "/later") == 0 ? ask(r) : reply_empty(r, 200);
}

static int nobody(struct request *r, struct err *e)
{
    (void)r;
    return err_set(e, ERR_NO_TOKEN, NULL, "nobody may");
}

/* A service with a kind of error and a rendering of its own. */
#define QUEUE_ERRORS(X) HTTP_ERRORS(X) NO_CORE_ERRORS(X)
#define QUEUE_OWN(X)    X(QUEUE_FULL, 507, "QueueFull", ADDS_TRY_AGAIN)
enum { ERROR_OWN_KINDS(QUEUE_KINDS, QUEUE_OWN) };
static ERROR_TABLE(queue_words, QUEUE_ERRORS, QUEUE_OWN)

    static struct replied *queue_error(struct request *r, struct error_words words,
                                       const struct err *e)
{
    reply_header(r, "x-error", "%s", words.code);
    return reply_text(r, words.status, "text/plain", xstrdup(e->msg));
}

static struct replied *put_in_queue(struct request *r)
{
    struct err e;
    err_set(&e, QUEUE_FULL, NULL, "the queue is full");
    return reply_err(r, &e);
}

#define ROUTES(list)                                                                               \
    .versions = VERSIONS_NONE, .routes = (list), .n_routes = sizeof(list) / sizeof *(list)

static const struct route any_path[] = {{"GET", "/{path*}", 0, 0, say, "Say"}};
static const struct route below_files[] = {{"GET", "/files/{path*}", 0, 0, say, "Say"}};
static const struct route changes[] = {{"GET", "/ask", 0, 0, ask, "Ask"},
                                       {"PUT", "/{path*}", 0, ROUTE_FORM, made, "Make"}};
static const char *const vault_hosts[] = {"*.vault.test", NULL};
static const char *const files_paths[] = {"/files/{path*}", "/{account}/files/{path*}", NULL};

static const struct route slow[] = {{"GET", "/slow", 0, 0, be_slow, "Slow"},
                                    {"GET", "/quick", 0, 0, say, "Say"}};
static const struct service takes_long = {.name = "takes long", ROUTES(slow)};
static const struct route keeping[] = {{"GET", "/{path*}", 0, 0, keep, "Keep"}};
static const struct service keeps = {.name = "keeps", ROUTES(keeping)};
static const struct route owning[] = {{"GET", "/{path*}", 0, 0, own, "Own"}};
static const struct service owns = {.name = "owns", ROUTES(owning)};
static const struct route queued[] = {{"PUT", "/{path*}", 0, 0, put_in_queue, "Queue"}};
static const struct service queue = {
    .name = "queue", .words = queue_words, .error = queue_error, ROUTES(queued)};
static const struct service everything = {.name = "everything", ROUTES(any_path)};
static const struct service vault = {.name = "vault", ROUTES(any_path)};
static const struct service files = {.name = "files", .paths = files_paths, ROUTES(below_files)};
static const struct service writes = {.name = "writes", .body_max = 1000, ROUTES(changes)};
static const struct service closed = {
    .name = "closed", .may = nobody, .body_max = 1000, ROUTES(changes)};

/* --- tests ---------------------------------------------------------------------------------- */

#define HEAD(line, host) line " HTTP/1.1\r\nHost: " host "\r\n"

SERVER_TEST(a_service_says_and_renders_its_own_errors, {&queue, NULL, NULL})
{
    const char *got = once(w, HEAD("PUT /x", "localhost") "\r\n");
    assert_says(got, "HTTP/1.1 507 ", "x-error: QueueFull\r\n", "Retry-After: 1\r\n",
                "\r\n\r\nthe queue is full");
    got = once(w, HEAD("GET /x", "localhost") "\r\n");
    assert_says(got, "x-error: MethodNotAllowed\r\n");
}

SERVER_TEST(a_handler_that_holds_others_up_is_counted_piece_by_piece, {&takes_long, "quick", NULL})
{
    assert_says(once(w, HEAD("GET /quick", "localhost") "\r\n"), "HTTP/1.1 200");
    assert_says(once(w, HEAD("GET /slow", "localhost") "\r\n"), "HTTP/1.1 200");
    struct api_counters c = api_counters(w->api);
    assert_int_equal(c.slow, 2);
    assert_true(c.longest_us >= LOOP_SLOW_US);
}

TEST(what_a_handler_keeps_is_released_once)
{
    static const struct {
        const char *text;
        int released;
    } cases[] = {
        {HEAD("GET /now", "localhost") "\r\n", 1},     {HEAD("GET /later", "localhost") "\r\n", 1},
        {HEAD("GET /early", "localhost") "\r\n", 1},   {HEAD("GET /back", "localhost") "\r\n", 0},
        {HEAD("GET /refused", "localhost") "\r\n", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int released = 0;
        const struct served served[] = {{&keeps, &released, NULL}};
        struct http_world w;
        world_open(&w, served, 1);
        w.at_turn_end = answer_asked;
        assert_says(once(&w, cases[i].text), "HTTP/1.1 ");
        world_close(&w);
        assert_int_equal(released, cases[i].released);
    }
}

TEST(what_a_request_owns_goes_with_it)
{
    static const char *const texts[] = {HEAD("GET /now", "localhost") "\r\n",
                                        HEAD("GET /later", "localhost") "\r\n"};
    json_t *value = json_object();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct served served[] = {{&owns, value, NULL}};
        struct http_world w;
        world_open(&w, served, 1);
        w.at_turn_end = answer_asked;
        assert_says(once(&w, texts[i]), "HTTP/1.1 200");
        assert_says(once(&w, texts[i]),
                    "HTTP/1.1 200"); /* the request is used again, and owns nothing */
        world_close(&w);
        assert_int_equal(value->refcount, 1);
    }
    json_decref(value);
}

/* It asks, and is gone before the answer: the request goes on until there is one. */
static void *leave(void *ctx)
{
    struct talk *t = ctx;
    client_open(&t->c, t->w->port);
    client_send(&t->c, t->text, strlen(t->text));
    client_close(&t->c);
    uv_async_send(&t->w->client_done);
    return NULL;
}

TEST(what_is_kept_outlives_a_client_that_leaves_but_not_its_request)
{
    int released = 0;
    const struct served served[] = {{&keeps, &released, NULL}};
    struct http_world w;
    world_open(&w, served, 1);
    static struct talk t;
    t = (struct talk){.w = &w, .text = HEAD("GET /later", "localhost") "\r\n"};
    run_with(&w, leave, &t);
    while (!asked)
        uv_run(&w.loop, UV_RUN_ONCE);
    uv_run(&w.loop, UV_RUN_NOWAIT);
    assert_int_equal(released, 0);
    w.at_turn_end = answer_asked;
    world_close(&w);
    assert_int_equal(released, 1);
}

#define BY_HOST_OR_PATH                                                                            \
    {&everything, "everything", NULL}, {&vault, "the vault", vault_hosts},                         \
    {                                                                                              \
        &files, "the files", NULL                                                                  \
    }

SERVER_TEST(host_then_path_say_which_service, BY_HOST_OR_PATH)
{
    assert_says(once(w, HEAD("GET /x", "localhost") "\r\n"), "everything");
    assert_says(once(w, HEAD("GET /x", "a.vault.test:7443") "\r\n"), "the vault");
    assert_says(once(w, HEAD("GET /files/a", "a.vault.test") "\r\n"), "the vault");
    assert_says(once(w, HEAD("GET /files/a", "vault.test") "\r\n"), "the files");
    assert_says(once(w, HEAD("GET /files/a", "localhost") "\r\n"), "the files");
    /* The service is picked once: it has no such route, and nobody else is asked. */
    assert_says(once(w, HEAD("GET /me/files/a", "localhost") "\r\n"), "InvalidResourceType");
    assert_says(once(w, HEAD("GET /files", "localhost") "\r\n"), "everything");
}

/* A proxy's form of the target counts more than Host. */
SERVER_TEST(a_target_may_name_its_host, BY_HOST_OR_PATH)
{
    assert_says(once(w, HEAD("GET https://a.vault.test:7443/x", "localhost") "\r\n"), "the vault");
    assert_says(once(w, HEAD("GET HTTP://localhost/files/a", "a.vault.test") "\r\n"), "the files");
    assert_says(once(w, HEAD("GET ftp://localhost/x", "localhost") "\r\n"), "HTTP/1.1 404");
}

SERVER_TEST(a_request_is_for_one_host, {&everything, "everything", NULL})
{
    static const char *const bad[] = {"Host: a.vault.test\r\nHost: localhost\r\n\r\n",
                                      "Host: localhost/x\r\n\r\n", "Host: local host\r\n\r\n",
                                      "Host: b\xc3\xbc.test\r\n\r\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[400];
        snprintf(text, sizeof text, "GET /x HTTP/1.1\r\n%s", bad[i]);
        assert_says(once(w, text), "HTTP/1.1 400");
    }
    assert_says(once(w, "GET /x HTTP/1.1\r\nHost:\r\n\r\n"), "HTTP/1.1 200");
    assert_says(once(w, "GET /x HTTP/1.0\r\nConnection: close\r\n\r\n"), "200");
}

SERVER_TEST(a_turn_that_is_rolled_back_leaves_no_header_behind, {&writes, &world, NULL})
{
    assert_says(once(w, HEAD("PUT /x", "localhost") "Content-Length: 1\r\n\r\nx"),
                "Location: /operations/1");
    w->full = true;
    const char *got = once(w, HEAD("PUT /x", "localhost") "Content-Length: 1\r\n\r\nx");
    assert_says(got, "HTTP/1.1 500");
    assert_says_not(got, "Location");
}

/* The second request is read when the first reply is sent, which is when a turn has already ended:
 * there must be another, though only an idle connection is there to wake the loop. */
SERVER_TEST(what_begins_at_a_turns_end_is_not_left_asleep, {&writes, &world, NULL})
{
    w->at_turn_end = answer_asked;
    struct talk idle = {
        .w = w, .text = HEAD("PUT /x", "localhost") "Content-Length: 0\r\n\r\n", .stay = true};
    run_with(w, talk, &idle);
    struct talk t = {.w = w,
                     .text = HEAD("PUT /x", "localhost") "Content-Length: 1\r\n\r\nx" HEAD(
                         "GET /ask", "localhost") "Connection: close\r\n\r\n",
                     .to_the_end = true};
    alarm(30); /* asleep it would stay so for two minutes */
    run_with(w, talk, &t);
    alarm(0);
    assert_says(t.got, "HTTP/1.1 202", "HTTP/1.1 200");
    client_close(&idle.c);
}

SERVER_TEST(a_body_is_delimited_once, {&writes, &world, NULL})
{
    /* From 1.0 on libmicrohttpd refuses codings that it does not know by itself, in its own words.
     */
    const char *by_itself = MHD_VERSION >= 0x01000000 ? "Transfer-Encoding" : "BadRequest";
    static const char *const bad[] = {
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345",
        "Transfer-Encoding: gzip\r\n\r\n12345",
        "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[1000];
        snprintf(text, sizeof text, "%s%s" HEAD("PUT /smuggled", "localhost") "\r\n",
                 HEAD("PUT /x", "localhost"), bad[i]);
        struct talk t = {.w = w, .text = text, .to_the_end = true};
        run_with(w, talk, &t);
        const char *says = strstr(bad[i], "gzip") ? by_itself : "BadRequest";
        if (strncmp(t.got, "HTTP/1.1 400", 12) != 0 || !strstr(t.got, says))
            fail_msg("%s: %s", bad[i], t.got);
        assert_says_not(t.got + 12, "HTTP/1.1");
    }
    assert_says(once(w, HEAD("PUT /x",
                             "localhost") "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"),
                "202");
}

SERVER_TEST(what_is_served_is_counted, {&writes, &world, NULL})
{
    assert_says(once(w, HEAD("PUT /x", "localhost") "Content-Length: 4\r\n\r\nbody"), "202");
    assert_says(once(w, HEAD("POST /x", "localhost") "Content-Length: 2\r\n\r\nno"), "405");
    w->full = true;
    assert_says(once(w, HEAD("PUT /x", "localhost") "Content-Length: 0\r\n\r\n"), "500");
    struct api_counters c = api_counters(w->api);
    assert_int_equal(c.connections, 3);
    assert_int_equal(c.requests, 3);
    assert_int_equal(c.refused, 1);
    assert_int_equal(c.failed, 1);
    assert_int_equal(c.waited, 2);
    assert_int_equal(c.body_bytes, 6);
    assert_int_equal(c.hung_up, 0);
}

TEST(the_head_is_answered_before_a_body_that_is_refused)
{
    struct http_world w;
    const struct served served = {&closed, &w, NULL}, open = {&writes, &w, NULL};
    world_open(&w, &served, 1);
    assert_says(once(&w, HEAD("PUT /x", "localhost") "Content-Length: 5\r\n\r\n12345"), "401");
    assert_says(
        once(&w, HEAD("PUT /x", "localhost") "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"),
        "401");
    assert_says(once(&w, HEAD("PUT /x", "localhost") "Content-Length: 99999999999\r\n\r\n"), "401");
    world_close(&w);
    world_open(&w, &open, 1);
    assert_says(once(&w, HEAD("PUT /x",
                              "localhost") "Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n"),
                "413");
    world_close(&w);
}

/* `n` parameters of one letter. */
static const char *query(struct strbuf *b, size_t n)
{
    strbuf_reset(b);
    strbuf_puts(b, "GET /x?a");
    for (size_t i = 1; i < n; i++)
        strbuf_puts(b, "&a");
    strbuf_puts(b, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return b->s;
}

TEST(any_number_of_parameters_gets_a_reply)
{
    static const size_t counts[] = {1, 399, 400, 401, 450, 700, 2000, 8000, 20000};
    struct strbuf text = STRBUF_INIT;
    struct http_world w;
    const struct served served = {&everything, "everything", NULL};
    world_open(&w, &served, 1);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_says(once(&w, query(&text, counts[i])),
                    counts[i] <= 400 ? "HTTP/1.1 200" : "HTTP/1.1 414");
    }
    world_close(&w);
    strbuf_free(&text);
}
