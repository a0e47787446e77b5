/* SPDX-License-Identifier: MIT
 *
 * The HTTP server: libmicrohttpd on the loop, without threads of its own. A request passes: doors
 * (listener.h) -> engine -> server -> router -> handler of a service (in another directory of api/)
 * -> reply. A reply is sent only after everything written so far is on disk (st_when_durable).
 *
 * The server borrows everything in its configuration; it owns the sockets and the requests under
 * way.
 */
#ifndef API_HTTP_H
#define API_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "lib/err.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "lib/timefmt.h"

struct api;
struct api_watch;
struct directory;
struct served;
struct gnutls_pcert_st;
struct gnutls_privkey_st;

/* The storage for which replies wait: a reply is sent when everything written so far is on disk. */
struct api_disk {
    bool (*has_pending)(void *ctx);
    /* `why`: NULL, or the reason why the turn's writes were rolled back. */
    void (*when_durable)(void *ctx, void (*cb)(void *cb_ctx, const struct err *why), void *cb_ctx);
    void *ctx;
};

/* The clients that may use plain HTTP on a port, where a connection's first byte distinguishes it
 * from TLS. */
enum api_http {
    API_HTTP_NONE,  /* none: the reply redirects to https */
    API_HTTP_LOCAL, /* clients on loopback addresses */
    API_HTTP_ANY
};

struct api_listen {
    const char *host; /* IPv4 or IPv6 literal, or "localhost" for both loopback addresses */
    int port;         /* 0: any free port */
    enum api_http http;
    /* The only service on this port; then the first segment of each path is the account's name
     * (request.label). NULL: host and path select the service. */
    const char *service;
};

/* The source of the TLS certificates. */
struct api_certs {
    /* Gets the certificate chain and key for the server name in a client's TLS handshake ("":
     * none). They are borrowed until the handshake has ended. */
    void (*pick)(void *ctx, const char *name, struct gnutls_pcert_st **chain, unsigned *n,
                 struct gnutls_privkey_st **key);
    void *ctx;
};

/* The domains of accounts' hosts: `below`, such as "core.", before each name of the daemon; `own`,
 * a domain in the site's configuration, such as "core.windows.net"; NULL: none. */
struct api_suffix {
    const char *below, *own;
};
struct api_names {
    const char *const *list; /* the names of the daemon's host */
    size_t n;
    const struct api_suffix *suffixes;
    size_t n_suffixes;
};

/* Settings that may change while the server runs. */
struct api_settings {
    int token_lifetime_s;
    bool newer_versions; /* accept unknown newer api-versions as the newest */
    int retry_after_s;   /* Retry-After of 202 and of operations in progress */
};

struct api_config {
    uv_loop_t *loop;
    struct api_disk disk;
    const struct log *log;
    struct clock clock;
    bool clock_changes; /* tests may change the clock: Date is from `clock` */

    /* If several routes match, the one with the more literal path is used, then the first. */
    const struct served *services;
    size_t n_services;
    /* Called when the server stops: must end everything for which handlers wait. */
    void (*hurry)(void *ctx);
    void *hurry_ctx;

    const struct api_listen *listen;
    size_t n_listen;
    struct api_certs certs;
    struct api_names names;

    const uint8_t *token_key; /* 32 bytes; the key that signs access tokens and download links */
    const struct directory *directory; /* the principals whose tokens are valid */
    const struct api_watch *watch;     /* test hooks; NULL: none */
    struct api_settings settings;
};

void api_change(struct api *api, const struct api_settings *settings);
/* Binds the addresses and starts to serve. ERR_CONFIG: an address cannot be bound; the message
 * names it. Then the caller must still run the loop, which closes the other sockets. */
int api_create(const struct api_config *c, struct api **out, struct err *e) MUST_CHECK;
/* "https://127.0.0.1:7443": the first listening address with its real port. */
const char *api_endpoint(const struct api *api);
/* The URL of the first listening address that is loopback or "all addresses"; if there is none, of
 * the first address. */
const char *api_local_endpoint(const struct api *api);
/* Counters since the server's start. */
struct api_counters {
    uint64_t connections; /* accepted */
    uint64_t hung_up;     /* connections that the daemon closed: silent, or too many */
    uint64_t requests;    /* requests whose head was read */
    uint64_t refused;     /* requests that were refused before a handler was called */
    uint64_t failed;      /* requests that were answered with 5xx */
    uint64_t waited;      /* requests whose reply waited for the disk */
    uint64_t body_bytes;  /* bytes of bodies that were read */
    uint64_t slow;        /* pieces of handlers that took longer than LOOP_SLOW_US */
    uint64_t longest_us;  /* the longest piece of a handler, in microseconds */
};
struct api_counters api_counters(const struct api *api);
/* The numbers of a service's replies, by the first digit of their status. */
struct api_replies {
    const char *service; /* name; "none": for requests without a service */
    uint64_t of_class[6];
};

/* Sends the replies that became ready in this turn of the loop. Call after st_turn_end(). */
void api_turn(struct api *api);
/* Stops accepting, finishes requests under way, then calls `cb` and frees api. */
void api_stop(struct api *api, void (*cb)(void *ctx), void *ctx);

#endif
