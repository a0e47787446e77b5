/* SPDX-License-Identifier: MIT
 *
 * Transfers from and to a small server in this process, and what its answers mean.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/loop_uv.h"
#include "lib/strbuf.h"
#include "scheduler/fleet/transfer/put.h"
#include "scheduler/fleet/transfer/transfer.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/patience.h"
#include "test/unit/support/says.h"

#define PIECE    65536
#define LIMIT_MS 20000
#define LARGE    300000

struct transfer_fixture {
    uv_loop_t uv;
    struct loop *loop;
    struct transfers *tr;
    uv_timer_t limit;
    bool timed_out, stopped;
    int listener;
    pthread_t server;
    char url[64];
    /* of the last call */
    bool told, ended;
    struct err why;
    long status;
    struct strbuf body;
};

/* --- the server: one thread for each connection ----------------------------------------------- */

static void say(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t done = send(fd, text, n, MSG_NOSIGNAL);
        if (done <= 0)
            return;
        text += done;
        n -= (size_t)done;
    }
}

static void answer(int fd, const char *status, const char *body, size_t n)
{
    char head[200];
    int len = snprintf(head, sizeof head, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n", status, n);
    say(fd, head, (size_t)len);
    say(fd, body, n);
}

/* The head and, of a PUT, the body, into `got`; false: the client has gone. */
static bool hear(int fd, struct strbuf *got, size_t wanted)
{
    char piece[4096];
    while (wanted > 0 ? got->len < wanted : !got->s || !strstr(got->s, "\r\n\r\n")) {
        ssize_t n = recv(fd, piece, sizeof piece, 0);
        if (n <= 0)
            return false;
        strbuf_add(got, piece, (size_t)n);
    }
    return true;
}

static void serve_put(int fd, struct strbuf *got)
{
    const char *length = strstr(got->s, "Content-Length: ");
    size_t head = (size_t)(strstr(got->s, "\r\n\r\n") + 4 - got->s);
    if (strstr(got->s, "PUT /refused")) {
        answer(fd, "403 No", "<Error><Code>AuthorizationFailure</Code></Error>", 47);
        shutdown(fd, SHUT_WR); /* and reads no more */
        return;
    }
    if (strstr(got->s, "PUT /busy")) {
        static int times;
        hear(fd, got, head + strtoul(length + 16, NULL, 10));
        if (times++ == 0) {
            answer(fd, "503 Later", "", 0);
            return;
        }
    }
    if (length && hear(fd, got, head + strtoul(length + 16, NULL, 10)))
        answer(fd, "201 Created", got->s + head, got->len - head);
}

/* What a server says before it breaks off. The last one is whole. */
static const char *const torn_heads[] = {
    "HTTP/1.1 200 OK\r\nContent-Le",
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 200",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nETag: x",
    "HTTP/1.1 302 Found\r\nLocation: /torn/0\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\nConnection: close\n\n",
};
#define N_TORN (sizeof torn_heads / sizeof torn_heads[0])

static void *serve_one(void *arg)
{
    int fd = (int)(intptr_t)arg;
    struct strbuf got = STRBUF_INIT;
    while (hear(fd, &got, 0)) {
        if (strncmp(got.s, "PUT ", 4) == 0) {
            serve_put(fd, &got);
        } else if (strstr(got.s, "GET /large")) {
            char *large = malloc(LARGE);
            memset(large, 'x', LARGE);
            answer(fd, "200 OK", large, LARGE);
            free(large);
        } else if (strstr(got.s, "GET /empty")) {
            answer(fd, "200 OK", "", 0);
        } else if (strstr(got.s, "GET /silent")) {
            pause();
        } else if (strstr(got.s, "GET /late")) {
            usleep(1500000);
            answer(fd, "200 OK", "late", 4);
        } else if (strstr(got.s, "GET /short")) {
            say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", 42);
            break;
        } else if (strstr(got.s, "GET /torn/")) {
            const char *head = torn_heads[atoi(strstr(got.s, "/torn/") + 6)];
            say(fd, head, strlen(head));
            break;
        } else {
            answer(fd, "404 Not Found", "no", 2);
        }
        strbuf_reset(&got);
    }
    strbuf_free(&got);
    close(fd);
    return NULL;
}

static void *serve(void *arg)
{
    struct transfer_fixture *f = arg;
    for (int fd; (fd = accept(f->listener, NULL, NULL)) >= 0;) {
        pthread_t t;
        pthread_create(&t, NULL, serve_one, (void *)(intptr_t)fd);
        pthread_detach(t);
    }
    return NULL;
}

/* --- lookups of names: libcurl's come here, in threads of its own ----------------------------- */

static atomic_bool lookups_hang;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **found)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = NULL;
    if (name && strcmp(name, "hangs.invalid") == 0) {
        while (atomic_load(&lookups_hang))
            usleep(10000);
        return EAI_AGAIN;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(name, service, hints, found);
}

/* --- the loop --------------------------------------------------------------------------------- */

static void on_limit(uv_timer_t *t)
{
    ((struct transfer_fixture *)t->data)->timed_out = true;
}

#define WAIT(f, condition)                                                                         \
    do {                                                                                           \
        (f)->timed_out = false;                                                                    \
        uv_timer_start(&(f)->limit, on_limit, patient_ms(LIMIT_MS), 0);                            \
        while (!(condition) && !(f)->timed_out)                                                    \
            uv_run(&(f)->uv, UV_RUN_ONCE);                                                         \
        uv_timer_stop(&(f)->limit);                                                                \
        assert_true(condition);                                                                    \
    } while (0)

static int setup(void **state)
{
    struct transfer_fixture *f = xcalloc(1, sizeof *f);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    assert_int_equal(uv_loop_init(&f->uv), 0);
    f->loop = loop_uv_create(&f->uv, NULL, NULL);
    uv_timer_init(&f->uv, &f->limit);
    f->limit.data = f;
    f->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(f->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(f->listener, 16), 0);
    assert_int_equal(getsockname(f->listener, (struct sockaddr *)&at, &n), 0);
    snprintf(f->url, sizeof f->url, "http://127.0.0.1:%d", ntohs(at.sin_port));
    assert_int_equal(pthread_create(&f->server, NULL, serve, f), 0);
    const struct transfers_config c = {.loop = f->loop, .silent_s = 1};
    f->tr = transfers_create(&c);
    *state = f;
    return 0;
}

static void on_stopped(void *ctx)
{
    ((struct transfer_fixture *)ctx)->stopped = true;
}

static int teardown(void **state)
{
    struct transfer_fixture *f = *state;
    transfers_stop(f->tr, on_stopped, f);
    WAIT(f, f->stopped);
    shutdown(f->listener, SHUT_RDWR);
    pthread_join(f->server, NULL);
    close(f->listener);
    uv_close((uv_handle_t *)&f->limit, NULL);
    loop_uv_destroy(f->loop);
    uv_run(&f->uv, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&f->uv), 0);
    strbuf_free(&f->body);
    free(f);
    return 0;
}

static void on_read(void *ctx, const struct err *why, struct transfer_got *got)
{
    struct transfer_fixture *f = ctx;
    f->told = true;
    f->why = why ? *why : (struct err){0};
    f->status = got->status;
    f->ended = got->end;
    if (!why)
        strbuf_add(&f->body, got->bytes, got->n);
}

static void on_written(void *ctx, const struct err *why)
{
    struct transfer_fixture *f = ctx;
    f->told = true;
    f->why = why ? *why : (struct err){0};
}

static struct transfer *begin(struct transfer_fixture *f, const char *path, bool put,
                              uint64_t length)
{
    char url[128];
    snprintf(url, sizeof url, "%s%s", f->url, path);
    const struct transfer_ask ask = {.url = url, .put = put, .length = length};
    strbuf_reset(&f->body);
    return transfer_begin(f->tr, &ask);
}

static void read_piece(struct transfer_fixture *f, struct transfer *t)
{
    f->told = false;
    transfer_read(t, PIECE, on_read, f);
    WAIT(f, f->told);
}

static void write_piece(struct transfer_fixture *f, struct transfer *t, size_t n)
{
    char *bytes = malloc(n);
    memset(bytes, 'y', n);
    f->told = false;
    transfer_write(t, bytes, n, on_written, f);
    WAIT(f, f->told);
}

/* --- */

#define TRANSFER_TEST(name) TEST_IN(name, struct transfer_fixture *f, *state, setup, teardown)

TRANSFER_TEST(a_large_one_comes_in_pieces)
{
    struct transfer *t = begin(f, "/large", false, 0);
    int pieces = 0;
    do {
        size_t before = f->body.len;
        read_piece(f, t);
        assert_int_equal(f->why.code, ERR_NONE);
        assert_true(f->body.len - before <= PIECE);
        pieces++;
    } while (!f->ended);
    assert_int_equal(f->status, 200);
    assert_int_equal(f->body.len, LARGE);
    assert_true(pieces >= LARGE / PIECE);
    transfer_end(t);
}

TRANSFER_TEST(an_empty_one_ends_at_once)
{
    struct transfer *t = begin(f, "/empty", false, 0);
    read_piece(f, t);
    assert_true(f->ended && f->status == 200 && f->body.len == 0);
    transfer_end(t);
}

TRANSFER_TEST(what_is_put_arrives)
{
    struct transfer *t = begin(f, "/put", true, 150000);
    write_piece(f, t, 100000);
    write_piece(f, t, 50000);
    do
        read_piece(f, t);
    while (!f->ended);
    assert_int_equal(f->status, 201);
    assert_int_equal(f->body.len, 150000);
    transfer_end(t);
    t = begin(f, "/put", true, 0);
    read_piece(f, t);
    assert_true(f->ended && f->status == 201);
    transfer_end(t);
}

TRANSFER_TEST(whoever_refuses_is_sent_no_more)
{
    struct err e;
    struct transfer *t = begin(f, "/refused", true, 100000000);
    for (int i = 0; i < 100 && f->why.code == ERR_NONE; i++)
        write_piece(f, t, 1000000);
    read_piece(f, t);
    assert_int_equal(f->why.code, ERR_NONE);
    assert_int_equal(f->status, 403);
    transfer_refused(f->status, f->body.s, f->body.len, &e);
    assert_int_equal(e.code, ERR_FORBIDDEN);
    assert_says(e.msg, "AuthorizationFailure");
    transfer_end(t);
}

static void on_put(void *ctx, const struct err *why)
{
    struct transfer_fixture *f = ctx;
    f->told = true;
    f->why = why ? *why : (struct err){0};
}

static void put_whole(struct transfer_fixture *f, const char *path, const char *text)
{
    char url[128];
    snprintf(url, sizeof url, "%s%s", f->url, path);
    f->told = false;
    struct transfer_put *p = transfer_put_begin(f->tr, url, false, text, strlen(text), on_put, f);
    WAIT(f, f->told);
    transfer_put_end(p);
}

TRANSFER_TEST(a_text_is_put_whole_and_again_if_that_may_help)
{
    static const char *const good[] = {"/put", "/busy"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        put_whole(f, good[i], "text");
        assert_int_equal(f->why.code, ERR_NONE);
    }
    put_whole(f, "/put", "");
    assert_int_equal(f->why.code, ERR_NONE);
    put_whole(f, "/refused", "text");
    assert_int_equal(f->why.code, ERR_FORBIDDEN);
    assert_says(f->why.msg, "AuthorizationFailure");
    transfer_put_end(NULL);
}

TRANSFER_TEST(a_put_that_is_ended_says_nothing)
{
    char url[128];
    snprintf(url, sizeof url, "%s/put", f->url);
    f->told = false;
    transfer_put_end(transfer_put_begin(f->tr, url, false, "text", 4, on_put, f));
    put_whole(f, "/put", "x");
}

TRANSFER_TEST(whoever_breaks_off_in_the_head_gives_no_empty_answer)
{
    for (size_t i = 0; i < N_TORN; i++) {
        char path[32];
        snprintf(path, sizeof path, "/torn/%zu", i);
        struct transfer *t = begin(f, path, false, 0);
        read_piece(f, t);
        assert_int_equal(f->why.code, i == N_TORN - 1 ? ERR_NONE : ERR_IO);
        transfer_end(t);
    }
}

TRANSFER_TEST(trouble_has_kinds)
{
    static const struct {
        const char *path;
        int code;
    } rows[] = {{"/silent", ERR_UNAVAILABLE}, {"/short", ERR_IO}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct transfer *t = begin(f, rows[i].path, false, 0);
        read_piece(f, t);
        assert_int_equal(f->why.code, rows[i].code);
        transfer_end(t);
    }
    const struct transfer_ask ask = {.url = "http://127.0.0.1:1/x?secret"};
    struct transfer *t = transfer_begin(f->tr, &ask);
    read_piece(f, t);
    assert_int_equal(f->why.code, ERR_IO);
    assert_says_not(f->why.msg, "secret");
    transfer_end(t);
}

TRANSFER_TEST(a_header_that_could_make_another_request_is_not_sent)
{
    static const char *const lines[] = {"x-ms-meta-a: b\r\n\r\nDELETE /x HTTP/1.1",
                                        "x-ms-meta-a: b\nc: d",
                                        "x-ms-meta-a: b\rc",
                                        "x-ms-meta-a\r\nb: c",
                                        "x-ms-meta a: b",
                                        "no colon",
                                        ": b",
                                        "Host: x",
                                        "content-length: 1",
                                        "Transfer-Encoding: chunked"};
    char url[128];
    snprintf(url, sizeof url, "%s/put", f->url);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *const headers[] = {"x-ms-meta-good: a b; c=\"d\"", lines[i]};
        struct transfer_ask ask = {
            .url = url, .put = true, .length = 5, .headers = headers, .n_headers = 1};
        for (; ask.n_headers <= 2; ask.n_headers++) {
            struct transfer *t = transfer_begin(f->tr, &ask);
            write_piece(f, t, 5);
            if (ask.n_headers == 1)
                read_piece(f, t);
            if (f->why.code != (ask.n_headers == 1 ? ERR_NONE : ERR_IO))
                fail_msg("%s: %s", lines[i], f->why.msg);
            transfer_end(t);
        }
        assert_says(f->why.msg, "header");
    }
}

/* It is silent for longer than the second that others have. */
TRANSFER_TEST(who_has_work_to_do_is_waited_for)
{
    char url[128];
    snprintf(url, sizeof url, "%s/late", f->url);
    const struct transfer_ask ask = {.url = url, .work_us = 60000000};
    struct transfer *t = transfer_begin(f->tr, &ask);
    read_piece(f, t);
    assert_int_equal(f->why.code, ERR_NONE);
    assert_int_equal(f->status, 200);
    transfer_end(t);
}

TRANSFER_TEST(one_that_is_ended_says_nothing)
{
    struct transfer *silent = begin(f, "/silent", false, 0), *t;
    f->told = false;
    transfer_read(silent, PIECE, on_read, f);
    transfer_end(silent);
    transfer_end(begin(f, "/large", false, 0)); /* that nothing was asked of */
    t = begin(f, "/empty", false, 0);
    read_piece(f, t);
    assert_int_equal(f->status, 200);
    transfer_end(t);
}

TRANSFER_TEST(one_of_which_nothing_is_asked_waits_beside_others)
{
    struct transfer *waits = begin(f, "/put", true, 4 * PIECE);
    for (int i = 0; i < 4; i++) {
        write_piece(f, waits, PIECE);
        struct transfer *other = begin(f, "/put", true, PIECE);
        write_piece(f, other, PIECE);
        read_piece(f, other);
        assert_int_equal(f->status, 201);
        transfer_end(other);
    }
    strbuf_reset(&f->body);
    do
        read_piece(f, waits);
    while (!f->ended);
    assert_int_equal(f->why.code, ERR_NONE);
    assert_int_equal(f->status, 201);
    assert_int_equal(f->body.len, 4 * PIECE);
    transfer_end(waits);
}

static void on_unheard(void *ctx, const struct err *why, struct transfer_got *got)
{
    (void)ctx, (void)why, (void)got;
}

/* Neither when it is given up nor when it is ended: the name server's answer may take a minute. */
TRANSFER_TEST(a_name_that_is_looked_up_for_long_holds_up_nobody)
{
    const struct transfer_ask ask = {.url = "http://hangs.invalid/x"};
    atomic_store(&lookups_hang, true);
    for (int ended = 0; ended < 2; ended++) {
        struct transfer *hangs = transfer_begin(f->tr, &ask);
        if (ended)
            transfer_read(hangs, PIECE, on_unheard, NULL);
        else
            read_piece(f, hangs);
        struct transfer *t = begin(f, "/empty", false, 0);
        read_piece(f, t);
        transfer_end(hangs);
        transfer_end(t);
        t = begin(f, "/empty", false, 0);
        read_piece(f, t);
        assert_int_equal(f->why.code, ERR_NONE);
        transfer_end(t);
    }
    atomic_store(&lookups_hang, false);
}

ARENA_TEST(answers_mean_something)
{
    struct err e;
    transfer_refused(404, NULL, 0, &e);
    assert_int_equal(e.code, ERR_FILE_NOT_FOUND);
    transfer_refused(500, "<Code><script></Code>", 21, &e);
    assert_string_equal(e.msg, "it answered with status 500");
    assert_true(transfer_is_good(200) && transfer_is_good(201));
    assert_false(transfer_is_good(206) || transfer_is_good(304));
    assert_true(transfer_may_pass(503) && transfer_may_pass(429) && !transfer_may_pass(404));
    assert_string_equal(transfer_shown(a, "https://u:p@h:1/a/b?sig=x#y"), "https://h:1/a/b");
    assert_string_equal(transfer_shown(a, "https://h/a@b"), "https://h/a@b");
    assert_string_equal(transfer_shown(a, "nonsense?x"), "nonsense");
}
