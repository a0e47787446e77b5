/* SPDX-License-Identifier: MIT
 *
 * A relay has one buffer for each direction; while it is not empty, nothing more is read in this
 * direction. The loop watches both sockets for the events for which the relay waits. A relay ends
 * in this order: the client disconnects or is disconnected, the engine reads the end of the stream,
 * the engine closes its socket, the relay is freed.
 */
#include "api/http/relay.h"

#include <assert.h>
#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/http/hello.h"
#include "api/http/http_priv.h"
#include "api/http/upgrade.h"

#define BUFFER     16384U /* the most bytes of a TLS record */
#define ROUNDS_MAX 64     /* most rounds of reading and writing per turn */

struct relay_way {
    char bytes[BUFFER];
    size_t n, at; /* bytes[at] to bytes[n - 1] wait to be sent */
};

struct http_relay {
    struct http_relay *next; /* in the server's list */
    struct api *api;
    gnutls_session_t tls;
    gnutls_certificate_credentials_t certificate;
    int client, inner;
    uv_poll_t of_client, of_inner;
    uv_idle_t again;
    int open_handles;
    bool shaken; /* the handshake is done */
    bool left;   /* the client has disconnected; inner is shut down */
    bool more;   /* continue in the next turn: TLS may have buffered bytes */
    struct relay_way in, out;
};

bool relay_is_for(int fd)
{
    unsigned char hello[HELLO_MAX];
    ssize_t n = recv(fd, hello, sizeof hello, MSG_PEEK | MSG_DONTWAIT);
    return n > 0 && hello_offers(hello, (size_t)n, UPGRADE_PROTOCOL);
}

/* --- its end ------------------------------------------------------------------------------------
 */

static void on_handle_closed(uv_handle_t *h)
{
    struct http_relay *r = h->data;
    if (--r->open_handles > 0)
        return;
    gnutls_deinit(r->tls);
    gnutls_certificate_free_credentials(r->certificate);
    explicit_bzero(&r->in, sizeof r->in);
    explicit_bzero(&r->out, sizeof r->out);
    close(r->client);
    close(r->inner);
    r->api->relays_closing--;
    free(r);
}

/* Ends the relay after the engine has closed its socket. */
static void end(struct http_relay *r)
{
    struct http_relay **at = &r->api->relays;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    r->api->relays_closing++;
    (void)gnutls_bye(r->tls, GNUTLS_SHUT_WR);
    uv_close((uv_handle_t *)&r->of_client, on_handle_closed);
    uv_close((uv_handle_t *)&r->of_inner, on_handle_closed);
    uv_close((uv_handle_t *)&r->again, on_handle_closed);
}

/* Lets the engine read the end of the stream, after the bytes that the client has sent. Bytes for
 * the client are dropped. */
static void leave(struct http_relay *r)
{
    if (!r->left)
        (void)shutdown(r->inner, SHUT_WR);
    r->left = true;
    r->out.n = r->out.at = 0;
}

void relay_hurry(struct api *api)
{
    for (struct http_relay *r = api->relays; r; r = r->next)
        leave(r);
}

/* --- bytes --------------------------------------------------------------------------------------
 */

static bool is_empty(const struct relay_way *w)
{
    return w->at == w->n;
}

static void took(struct relay_way *w, size_t n)
{
    w->at += n;
    if (is_empty(w))
        w->n = w->at = 0;
}

static bool is_later(ssize_t rc)
{
    return rc == GNUTLS_E_AGAIN || rc == GNUTLS_E_INTERRUPTED;
}

/* read_client(), write_inner(), read_inner() and write_client() return true if they have moved
 * bytes. */
static bool read_client(struct http_relay *r)
{
    if (r->left || !is_empty(&r->in))
        return false;
    ssize_t n = gnutls_record_recv(r->tls, r->in.bytes, sizeof r->in.bytes);
    if (n > 0)
        r->in.n = (size_t)n;
    else if (!is_later(n) && n != GNUTLS_E_REHANDSHAKE)
        leave(r);
    return n > 0;
}

static bool write_inner(struct http_relay *r)
{
    if (is_empty(&r->in))
        return false;
    ssize_t n = send(r->inner, r->in.bytes + r->in.at, r->in.n - r->in.at, MSG_NOSIGNAL);
    if (n > 0)
        took(&r->in, (size_t)n);
    else if (n < 0 && errno != EAGAIN && errno != EINTR)
        r->in.n = r->in.at = 0; /* the engine reads no more and will close its socket */
    return n > 0;
}

/* *over: the engine has closed its socket. */
static bool read_inner(struct http_relay *r, bool *over)
{
    if (!is_empty(&r->out))
        return false;
    ssize_t n = recv(r->inner, r->out.bytes, sizeof r->out.bytes, 0);
    if (n > 0 && !r->left)
        r->out.n = (size_t)n;
    *over = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    return n > 0;
}

static bool write_client(struct http_relay *r)
{
    if (r->left || is_empty(&r->out))
        return false;
    ssize_t n = gnutls_record_send(r->tls, r->out.bytes + r->out.at, r->out.n - r->out.at);
    if (n > 0)
        took(&r->out, (size_t)n);
    else if (!is_later(n))
        leave(r);
    return n > 0;
}

/* --- the loop -----------------------------------------------------------------------------------
 */

static void on_ready(uv_poll_t *p, int status, int events);
static void on_again(uv_idle_t *i);

static void watch(struct http_relay *r)
{
    bool shaking = !r->shaken && !r->left;
    bool writes = shaking && gnutls_record_get_direction(r->tls) == 1;
    int client = r->left ? 0
                         : UV_DISCONNECT | (shaking || is_empty(&r->in) ? UV_READABLE : 0) |
                               (writes || !is_empty(&r->out) ? UV_WRITABLE : 0);
    int inner = (is_empty(&r->out) ? UV_READABLE : 0) | (!is_empty(&r->in) ? UV_WRITABLE : 0);
    uv_poll_start(&r->of_inner, inner, on_ready);
    if (client)
        uv_poll_start(&r->of_client, client, on_ready);
    else
        uv_poll_stop(&r->of_client);
    if (r->more)
        uv_idle_start(&r->again, on_again);
}

static void shake_hands(struct http_relay *r)
{
    if (r->shaken || r->left)
        return;
    int rc = gnutls_handshake(r->tls);
    if (rc == GNUTLS_E_SUCCESS)
        r->shaken = true;
    else if (gnutls_error_is_fatal(rc))
        leave(r);
}

static void work(struct http_relay *r)
{
    bool moved = true, over = false;
    int rounds = 0;
    shake_hands(r);
    while (moved && !over && rounds++ < ROUNDS_MAX) {
        moved = r->shaken && read_client(r);
        moved |= write_inner(r);
        moved |= read_inner(r, &over);
        moved |= r->shaken && write_client(r);
    }
    r->more = moved && !over;
    if (over)
        end(r);
    else
        watch(r);
}

static void on_ready(uv_poll_t *p, int status, int events)
{
    struct http_relay *r = p->data;
    /* the client has disconnected, and its last bytes cannot be passed on while the engine does not
     * read */
    bool deaf = p == &r->of_client && (events & UV_DISCONNECT) && !is_empty(&r->in);
    if (status < 0 || deaf)
        leave(r);
    work(r);
}

static void on_again(uv_idle_t *i)
{
    uv_idle_stop(i);
    work(i->data);
}

/* --- opening ------------------------------------------------------------------------------------
 */

static int pick(gnutls_session_t tls, const gnutls_datum_t *authorities, int n_authorities,
                const gnutls_pk_algorithm_t *algorithms, int n_algorithms, gnutls_pcert_st **chain,
                unsigned *n, gnutls_privkey_t *key)
{
    (void)authorities, (void)n_authorities, (void)algorithms, (void)n_algorithms;
    const struct http_relay *r = gnutls_session_get_ptr(tls);
    server_pick_certificate(r->api, tls, chain, n, key);
    return 0;
}

static void begin_tls(struct http_relay *r)
{
    static const char protocol[] = UPGRADE_PROTOCOL;
    const gnutls_datum_t alpn = {(unsigned char *)(uintptr_t)protocol, sizeof protocol - 1};
    if (gnutls_init(&r->tls, GNUTLS_SERVER | GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL) < 0 ||
        gnutls_certificate_allocate_credentials(&r->certificate) < 0)
        work_give_up();
    gnutls_certificate_set_retrieve_function2(r->certificate, pick);
    gnutls_session_set_ptr(r->tls, r);
    gnutls_priority_set_direct(r->tls, TLS_PRIORITIES, NULL);
    gnutls_credentials_set(r->tls, GNUTLS_CRD_CERTIFICATE, r->certificate);
    gnutls_alpn_set_protocols(r->tls, &alpn, 1, 0);
    gnutls_transport_set_int(r->tls, r->client);
}

int relay_open(struct api *api, const struct arrival *a)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
        close(a->fd);
        return -1;
    }
    struct http_relay *r = xcalloc(1, sizeof *r);
    r->api = api;
    r->client = a->fd;
    r->inner = pair[0];
    begin_tls(r);
    r->next = api->relays;
    api->relays = r;
    uv_poll_init(api->config.loop, &r->of_client, r->client);
    uv_poll_init(api->config.loop, &r->of_inner, r->inner);
    uv_idle_init(api->config.loop, &r->again);
    r->of_client.data = r->of_inner.data = r->again.data = r;
    r->open_handles = 3;
    watch(r);
    return pair[1];
}
