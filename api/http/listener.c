/* SPDX-License-Identifier: MIT
 *
 * States of a connection: accepted, waiting for its first byte, with TLS waiting for the rest of
 * the client's first message, passed to an engine or closed. struct doors owns the listening
 * sockets (a door is one) and the waiting connections. Called only on the loop's thread.
 */
#include "api/http/listener.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/http/hello.h"
#include "lib/arena.h"

#define AT_ONCE      64  /* connections accepted in one turn */
#define TRY_AGAIN_MS 100 /* pause after an error of accept4() */

struct door {
    struct doors *doors;
    uv_poll_t poll;
    int fd;
    const struct api_listen *listen;
};

/* A connection that has not sent its first byte, or not all of its first TLS message. */
struct silent {
    struct doors *doors;
    struct silent *before, *after;
    uv_poll_t poll;
    int fd;
    size_t wanted; /* bytes that the socket waits for; 0: for the first */
    struct sockaddr_storage from;
    socklen_t from_len;
    struct connection *connection;
};

struct doors {
    struct doors_config config;
    struct door *door;
    size_t n_doors;
    uv_timer_t timer; /* active during a pause */
    bool starved;     /* accepting has failed and is paused */
    struct silent *first;
    size_t open_handles;
    void (*closed)(void *ctx);
    void *closed_ctx;
};

static void on_closed(struct doors *d)
{
    if (--d->open_handles > 0)
        return;
    void (*cb)(void *) = d->closed;
    void *ctx = d->closed_ctx;
    assert(!d->first && cb);
    free(d->door);
    free(d);
    cb(ctx);
}

/* --- the first bytes ------------------------------------------------------------------------ */

static void on_silent_closed(uv_handle_t *h)
{
    struct silent *s = h->data;
    struct doors *d = s->doors;
    free(s);
    on_closed(d);
}

/* Removes a waiting connection from the list. Its descriptor and struct connection belong to
 * another owner now, or are closed. */
static void forget(struct silent *s)
{
    struct doors *d = s->doors;
    *(s->before ? &s->before->after : &d->first) = s->after;
    if (s->after)
        s->after->before = s->before;
    uv_poll_stop(&s->poll);
    uv_close((uv_handle_t *)&s->poll, on_silent_closed);
}

static void hang_up(int fd, struct connection *c)
{
    connection_closed(c);
    close(fd);
}

/* The socket becomes readable when it has n bytes, or at the end of the stream. */
static void wait_for_bytes(int fd, size_t n)
{
    int low = (int)n;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof low);
}

/* first_bytes() returns a client's first byte (0 to 255), or one of these values. */
enum { NOTHING_YET = -1, NOTHING_WILL_COME = -2 };

/* With TLS, waits for the whole first message, because its receiver is chosen by this message
 * (relay.h). *wanted: for how many bytes it has waited. If the socket becomes readable with fewer,
 * no more will come. */
static int first_bytes(int fd, const struct connection *c, size_t *wanted)
{
    unsigned char bytes[HELLO_MAX];
    if (connection_refused(c))
        return NOTHING_WILL_COME;
    ssize_t n = recv(fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return NOTHING_YET;
    if (n <= 0)
        return NOTHING_WILL_COME;
    size_t all = hello_length(bytes, (size_t)n);
    if ((size_t)n < all && all > *wanted) {
        *wanted = all;
        wait_for_bytes(fd, all);
        return NOTHING_YET;
    }
    if (*wanted > 0)
        wait_for_bytes(fd, 1);
    return bytes[0];
}

/* Whether the byte begins a method, or an empty line before one (RFC 9112, section 2.2). */
static bool begins_http(int first)
{
    return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z') || first == '\r' ||
           first == '\n';
}

static void go_on(struct doors *d, int fd, const struct sockaddr_storage *from, socklen_t from_len,
                  struct connection *c, int first)
{
    const struct arrival a = {.fd = fd,
                              .from = (const struct sockaddr *)from,
                              .from_len = from_len,
                              .connection = c,
                              .tls = first == HELLO_FIRST};
    if (!a.tls && !begins_http(first))
        hang_up(fd, c);
    else
        d->config.arrived(d->config.ctx, &a);
}

static void on_first_bytes(uv_poll_t *p, int status, int events)
{
    struct silent *s = p->data;
    (void)status, (void)events;
    int first = first_bytes(s->fd, s->connection, &s->wanted);
    if (first == NOTHING_YET)
        return;
    forget(s); /* the struct is freed when the poll is closed */
    go_on(s->doors, s->fd, &s->from, s->from_len, s->connection, first);
}

static void wait_for_it(struct doors *d, int fd, const struct sockaddr_storage *from,
                        socklen_t from_len, struct connection *c, size_t wanted)
{
    struct silent *s = xcalloc(1, sizeof *s);
    *s = (struct silent){.doors = d,
                         .after = d->first,
                         .fd = fd,
                         .wanted = wanted,
                         .from = *from,
                         .from_len = from_len,
                         .connection = c};
    if (d->first)
        d->first->before = s;
    d->first = s;
    uv_poll_init(d->config.loop, &s->poll, fd);
    s->poll.data = s;
    d->open_handles++;
    uv_poll_start(&s->poll, UV_READABLE, on_first_bytes);
}

/* --- accepting ------------------------------------------------------------------------------ */

static void on_connection(uv_poll_t *p, int status, int events);

static void watch(struct doors *d, bool on)
{
    for (size_t i = 0; i < d->n_doors; i++)
        if (on)
            uv_poll_start(&d->door[i].poll, UV_READABLE, on_connection);
        else
            uv_poll_stop(&d->door[i].poll);
}

static void on_try_again(uv_timer_t *t)
{
    watch(t->data, true);
}

/* After an error, stops accepting for a short time: the socket stays readable, so the loop would
 * spin. */
static void pause_accepting(struct doors *d, int why)
{
    if (!d->starved)
        LOG_WARN(d->config.log, "api.accept_paused", LF_STR("why", strerror(why)));
    d->starved = true;
    watch(d, false);
    uv_timer_start(&d->timer, on_try_again, TRY_AGAIN_MS, 0);
}

static void note_accepted(struct doors *d)
{
    if (d->starved)
        LOG_INFO(d->config.log, "api.accept_resumed");
    d->starved = false;
}

/* Whether accept4() failed only for this connection (or by a signal), so that further connections
 * may wait. */
static bool is_its_own_fault(int why)
{
    return why == ECONNABORTED || why == EINTR || why == EPROTO || why == EPERM;
}

/* Accepts a connection. True: further connections may wait; false: none waits, or accepting has
 * paused. */
static bool accept_one(struct door *door)
{
    struct doors *d = door->doors;
    struct sockaddr_storage from;
    socklen_t len = sizeof from;
    int fd = accept4(door->fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        int why = errno;
        if (is_its_own_fault(why))
            return true;
        if (why != EAGAIN && why != EWOULDBLOCK)
            pause_accepting(d, why);
        return false;
    }
    note_accepted(d);
    struct connection *c =
        connection_opened(d->config.connections, fd, (struct sockaddr *)&from, door->listen);
    size_t wanted = 0;
    int first = first_bytes(fd, c, &wanted);
    if (first == NOTHING_YET)
        wait_for_it(d, fd, &from, len, c, wanted);
    else
        go_on(d, fd, &from, len, c, first);
    return true;
}

static void on_connection(uv_poll_t *p, int status, int events)
{
    (void)status, (void)events;
    for (int i = 0; i < AT_ONCE && accept_one(p->data); i++)
        ;
}

/* --- the whole ------------------------------------------------------------------------------ */

struct doors *doors_open(const struct doors_config *c, const struct listen_socket *sockets,
                         size_t n)
{
    struct doors *d = xcalloc(1, sizeof *d);
    d->config = *c;
    d->n_doors = n;
    d->door = xcalloc(n, sizeof *d->door);
    uv_timer_init(c->loop, &d->timer);
    d->timer.data = d;
    d->open_handles = n + 1;
    for (size_t i = 0; i < n; i++) {
        d->door[i] = (struct door){.doors = d, .fd = sockets[i].fd, .listen = sockets[i].listen};
        uv_poll_init(c->loop, &d->door[i].poll, sockets[i].fd);
        d->door[i].poll.data = &d->door[i];
    }
    watch(d, true);
    return d;
}

static void on_door_closed(uv_handle_t *h)
{
    struct door *door = h->data;
    on_closed(door->doors);
}

static void on_timer_closed(uv_handle_t *h)
{
    on_closed(h->data);
}

void doors_close(struct doors *d, void (*cb)(void *ctx), void *ctx)
{
    assert(!d->closed && cb);
    d->closed = cb;
    d->closed_ctx = ctx;
    watch(d, false);
    while (d->first) {
        struct silent *s = d->first;
        int fd = s->fd;
        struct connection *c = s->connection;
        forget(s);
        hang_up(fd, c);
    }
    for (size_t i = 0; i < d->n_doors; i++) {
        listen_close(d->door[i].fd);
        uv_close((uv_handle_t *)&d->door[i].poll, on_door_closed);
    }
    uv_close((uv_handle_t *)&d->timer, on_timer_closed);
}
