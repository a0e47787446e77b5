/* SPDX-License-Identifier: MIT
 *
 * The real server with services of the test's own, a disk that does what the test says, and a
 * client of its own thread that speaks TLS over a blocking socket.
 */
#ifndef TEST_HTTP_SERVER_H
#define TEST_HTTP_SERVER_H

#include <arpa/inet.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "api/http/http.h"
#include "api/http/request.h"
#include "test/unit/support/says.h"

#define WAITERS_MAX 16

struct waiter {
    void (*cb)(void *ctx, const struct err *why);
    void *ctx;
};

struct server_certificate {
    gnutls_pcert_st shown;
    gnutls_privkey_t key;
};

struct http_world {
    uv_loop_t loop;
    uv_prepare_t prepare;
    uv_check_t check;
    uv_timer_t disk;
    uv_async_t client_done;
    struct log log;
    struct api *api;
    int port;
    struct waiter waiter[WAITERS_MAX]; /* for the disk */
    int n_waiters;
    bool wrote, full;               /* a handler wrote; the commit will fail */
    bool synced;                    /* the disk has it */
    void (*at_turn_end)(void *ctx); /* NULL: nothing */
    void *ctx;
    bool stopped;
    struct server_certificate certificate;
    char asked_for[256]; /* the name of the last handshake */
    struct directory directory;
    const char *gone; /* the one object id that nobody has; NULL: all have somebody */
};

/* --- disk and turns ------------------------------------------------------------------------- */

static inline bool disk_has_pending(void *ctx)
{
    const struct http_world *w = ctx;
    return w->wrote;
}

/* Timers run before a turn's first end, just before the loop sleeps. */
static inline void on_synced(uv_timer_t *t)
{
    struct http_world *w = t->data;
    w->synced = true;
}

static inline void disk_when_durable(void *ctx, void (*cb)(void *, const struct err *),
                                     void *cb_ctx)
{
    struct http_world *w = ctx;
    assert_true(w->n_waiters < WAITERS_MAX);
    w->waiter[w->n_waiters++] = (struct waiter){cb, cb_ctx};
    uv_timer_start(&w->disk, on_synced, 2, 0);
}

static inline void turn_end(struct http_world *w)
{
    if (w->at_turn_end)
        w->at_turn_end(w->ctx);
    struct err e;
    err_set(&e, ERR_STORAGE, NULL, "the disk is full");
    int n = w->synced ? w->n_waiters : 0;
    if (w->synced)
        w->n_waiters = 0;
    w->wrote = w->synced = false;
    for (int i = 0; i < n; i++)
        w->waiter[i].cb(w->waiter[i].ctx, w->full ? &e : NULL);
    if (w->api)
        api_turn(w->api);
}

static inline void on_prepare(uv_prepare_t *h)
{
    turn_end(h->data);
}

static inline void on_check(uv_check_t *h)
{
    turn_end(h->data);
}

/* --- the server ----------------------------------------------------------------------------- */

static inline void make_certificate(struct server_certificate *out)
{
    gnutls_x509_privkey_t k;
    gnutls_x509_crt_t c;
    const unsigned char serial[] = {1};
    gnutls_x509_privkey_init(&k);
    gnutls_x509_crt_init(&c);
    assert_int_equal(gnutls_x509_privkey_generate(
                         k, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                     0);
    gnutls_x509_crt_set_version(c, 3);
    gnutls_x509_crt_set_serial(c, serial, sizeof serial);
    gnutls_x509_crt_set_activation_time(c, time(NULL) - 60);
    gnutls_x509_crt_set_expiration_time(c, time(NULL) + 3600);
    gnutls_x509_crt_set_dn(c, "CN=localhost", NULL);
    gnutls_x509_crt_set_key(c, k);
    assert_int_equal(gnutls_x509_crt_sign2(c, c, k, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_pcert_import_x509(&out->shown, c, 0), 0);
    gnutls_privkey_init(&out->key);
    assert_int_equal(gnutls_privkey_import_x509(out->key, k, GNUTLS_PRIVKEY_IMPORT_AUTO_RELEASE),
                     0);
    gnutls_x509_crt_deinit(c);
}

static inline void pick_certificate(void *ctx, const char *name, gnutls_pcert_st **chain,
                                    unsigned *n, gnutls_privkey_t *key)
{
    struct http_world *w = ctx;
    snprintf(w->asked_for, sizeof w->asked_for, "%s", name);
    *chain = &w->certificate.shown;
    *n = 1;
    *key = w->certificate.key;
}

static inline void on_client_done(uv_async_t *h)
{
    struct http_world *w = h->data;
    uv_stop(&w->loop);
}

static inline int find_principal(void *ctx, const char *object_id, struct principal *out,
                                 struct err *e)
{
    const struct http_world *w = ctx;
    (void)e;
    if (w->gone && strcmp(w->gone, object_id) == 0)
        return 0;
    *out = (struct principal){.kind = PRINCIPAL_USER};
    (void)snprintf(out->object_id, sizeof out->object_id, "%s", object_id);
    (void)snprintf(out->name, sizeof out->name, "%s@lab", object_id);
    return 1;
}

static inline void world_open_at(struct http_world *w, const struct served *services, size_t n,
                                 const struct api_listen *listen)
{
    static const uint8_t token_key[32];
    struct err e;
    memset(w, 0, sizeof *w);
    w->directory = (struct directory){find_principal, w};
    make_certificate(&w->certificate);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    uv_prepare_init(&w->loop, &w->prepare);
    uv_check_init(&w->loop, &w->check);
    uv_async_init(&w->loop, &w->client_done, on_client_done);
    uv_timer_init(&w->loop, &w->disk);
    w->disk.data = w->prepare.data = w->check.data = w->client_done.data = w;
    uv_prepare_start(&w->prepare, on_prepare);
    uv_check_start(&w->check, on_check);
    w->log = (struct log){.fd = 2, .level = LOG_LVL_ERROR};
    const struct api_config c = {.loop = &w->loop,
                                 .disk = {disk_has_pending, disk_when_durable, w},
                                 .log = &w->log,
                                 .clock = clock_system(),
                                 .services = services,
                                 .n_services = n,
                                 .listen = listen,
                                 .n_listen = 1,
                                 .certs = {pick_certificate, w},
                                 .token_key = token_key,
                                 .settings = {.token_lifetime_s = 60, .retry_after_s = 1},
                                 .directory = &w->directory};
    if (api_create(&c, &w->api, &e) < 0)
        fail_msg("%s", e.msg);
    w->port = atoi(strrchr(api_endpoint(w->api), ':') + 1);
}

static inline void world_open(struct http_world *w, const struct served *services, size_t n)
{
    static const struct api_listen listen = {.host = "127.0.0.1"};
    world_open_at(w, services, n, &listen);
}

static inline void on_stopped(void *ctx)
{
    struct http_world *w = ctx;
    w->api = NULL;
    uv_close((uv_handle_t *)&w->prepare, NULL);
    uv_close((uv_handle_t *)&w->check, NULL);
    uv_close((uv_handle_t *)&w->disk, NULL);
    uv_close((uv_handle_t *)&w->client_done, NULL);
}

/* Called when the server has stopped. */
static inline void world_free(struct http_world *w)
{
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    gnutls_pcert_deinit(&w->certificate.shown);
    gnutls_privkey_deinit(w->certificate.key);
}

static inline void world_close(struct http_world *w)
{
    api_stop(w->api, on_stopped, w);
    world_free(w);
}

/* The world of SERVER_TEST(): services may refer to it. */
static struct http_world world;

static inline struct http_world *world_of(const struct served *services, size_t n)
{
    world_open(&world, services, n);
    return &world;
}

#define N_SERVED(...) (sizeof((const struct served[]){__VA_ARGS__}) / sizeof(struct served))

/* A test of the world `w`, whose server has these services: {&service, deps, hosts}, ... */
#define SERVER_TEST(name, ...)                                                                     \
    TEST_WITH(name, struct http_world *, w,                                                        \
              world_of((const struct served[]){__VA_ARGS__}, N_SERVED(__VA_ARGS__)), world_close)

/* Turns the loop until the client's thread has ended. */
static inline void run_with(struct http_world *w, void *(*client)(void *), void *ctx)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, client, ctx), 0);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    pthread_join(thread, NULL);
}

/* --- the client ----------------------------------------------------------------------------- */

struct client {
    int fd;
    gnutls_session_t tls; /* NULL: plain HTTP */
    gnutls_certificate_credentials_t cred;
};

static inline int dial(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static inline void client_open(struct client *c, int port)
{
    c->fd = dial(port);
    gnutls_certificate_allocate_credentials(&c->cred);
    gnutls_init(&c->tls, GNUTLS_CLIENT);
    gnutls_set_default_priority(c->tls);
    gnutls_credentials_set(c->tls, GNUTLS_CRD_CERTIFICATE, c->cred);
    gnutls_transport_set_int(c->tls, c->fd);
    int rc;
    do
        rc = gnutls_handshake(c->tls);
    while (rc < 0 && !gnutls_error_is_fatal(rc));
    assert_int_equal(rc, 0);
}

static inline void client_open_plain(struct client *c, int port)
{
    *c = (struct client){.fd = dial(port)};
}

static inline void client_close(struct client *c)
{
    if (c->tls) {
        gnutls_deinit(c->tls);
        gnutls_certificate_free_credentials(c->cred);
    }
    close(c->fd);
}

static inline void client_send(struct client *c, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t sent =
            c->tls ? gnutls_record_send(c->tls, bytes, n) : send(c->fd, bytes, n, MSG_NOSIGNAL);
        if (c->tls && sent < 0 && !gnutls_error_is_fatal((int)sent))
            continue;
        assert_true(sent > 0);
        bytes += sent;
        n -= (size_t)sent;
    }
}

/* One reply, or all until the server hangs up. */
static inline void client_read(struct client *c, char *out, size_t size, bool to_the_end)
{
    size_t n = 0;
    out[0] = '\0';
    for (;;) {
        const char *head_end = strstr(out, "\r\n\r\n"), *length = strstr(out, "Content-Length: ");
        if (!to_the_end && head_end && strncmp(out, "HTTP/1.1 204", 12) == 0)
            return; /* it has neither length nor body */
        if (!to_the_end && head_end && length &&
            n >= (size_t)(head_end + 4 - out) + strtoul(length + 16, NULL, 10))
            return;
        ssize_t got = c->tls ? gnutls_record_recv(c->tls, out + n, size - 1 - n)
                             : recv(c->fd, out + n, size - 1 - n, 0);
        if (c->tls && got < 0 && !gnutls_error_is_fatal((int)got))
            continue;
        if (got <= 0)
            return;
        n += (size_t)got;
        out[n] = '\0';
    }
}

/* --- a client that sends one text and reads the reply ----------------------------------------- */

struct talk {
    struct http_world *w;
    const char *text;
    bool plain;      /* HTTP without TLS */
    bool to_the_end; /* reads until the server hangs up, not just one reply */
    bool stay;       /* leaves the connection open */
    struct client c;
    char got[8192];
};

static inline void *talk(void *ctx)
{
    struct talk *t = ctx;
    if (t->plain)
        client_open_plain(&t->c, t->w->port);
    else
        client_open(&t->c, t->w->port);
    client_send(&t->c, t->text, strlen(t->text));
    client_read(&t->c, t->got, sizeof t->got, t->to_the_end);
    if (!t->stay)
        client_close(&t->c);
    uv_async_send(&t->w->client_done);
    return NULL;
}

/* The reply to this text; it stays until the next call. */
static inline const char *once_by(struct http_world *w, bool plain, const char *text)
{
    static struct talk t;
    t = (struct talk){.w = w, .text = text, .plain = plain};
    run_with(w, talk, &t);
    return t.got;
}

static inline const char *once(struct http_world *w, const char *text)
{
    return once_by(w, false, text);
}

/* A request without a body, for "METHOD TARGET", is answered with these words. */
static inline void expect_by(struct http_world *w, bool plain, const char *line, const char *host,
                             const char *words)
{
    char text[4096];
    snprintf(text, sizeof text, "%s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n\r\n", line, host);
    const char *got = once_by(w, plain, text);
    if (!strstr(got, words))
        fail_msg("%s at %s: '%s' is not in: %s", line, host, words, got);
}

static inline void expect_at(struct http_world *w, const char *line, const char *host,
                             const char *words)
{
    expect_by(w, false, line, host, words);
}

#endif
