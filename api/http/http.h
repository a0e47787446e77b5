/* SPDX-License-Identifier: MIT
 *
 * The HTTP room: libmicrohttpd on the loop, without threads of its own. A request goes doors ->
 * engine -> server -> router -> handler of a service (in a folder beside this one) -> reply. A
 * reply leaves only once everything written so far is on disk (st_when_durable).
 *
 * Borrows everything in its configuration; owns the sockets and requests under way.
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

/* The disk, for which replies wait: nothing leaves before everything written so far is on disk. */
struct api_disk {
    bool (*has_pending)(void *ctx);
    /* `why` is NULL, or says why all that this turn wrote was rolled back. */
    void (*when_durable)(void *ctx, void (*cb)(void *cb_ctx, const struct err *why), void *cb_ctx);
    void *ctx;
};

/* Who may speak plain HTTP on a port, where a connection's first byte tells it from TLS. */
enum api_http {
    API_HTTP_NONE,  /* nobody: the reply says where to go */
    API_HTTP_LOCAL, /* clients on loopback addresses */
    API_HTTP_ANY
};

struct api_listen {
    const char *host; /* IPv4 or IPv6 literal, or "localhost" for both loopback addresses */
    int port;         /* 0: any free one */
    enum api_http http;
    /* NULL: host and path say which service. Otherwise the name of the only one there; the first
     * segment of each path is the account's name (request.label). */
    const char *service;
};

/* Where certificates come from. */
struct api_certs {
    /* The chain and key for the name that a client asks for ("": none), lent for as long as a
     * handshake may take. */
    void (*pick)(void *ctx, const char *name, struct gnutls_pcert_st **chain, unsigned *n,
                 struct gnutls_privkey_st **key);
    void *ctx;
};

/* Where hosts of accounts are: "core." below each name of the daemon, and the site's own suffix,
 * "core.windows.net"; NULL: there is none. */
struct api_suffix {
    const char *below, *own;
};
struct api_names {
    const char *const *list; /* of the daemon */
    size_t n;
    const struct api_suffix *suffixes;
    size_t n_suffixes;
};

struct api_config {
    uv_loop_t *loop;
    struct api_disk disk;
    const struct log *log;
    struct clock clock;
    bool clock_changes; /* it may not be the machine's: replies need a Date of their own */

    const struct served *services; /* the more literal path wins, then the first */
    size_t n_services;
    /* The server stops: everything that handlers wait for must end now. */
    void (*hurry)(void *ctx);
    void *hurry_ctx;

    const struct api_listen *listen;
    size_t n_listen;
    struct api_certs certs;
    struct api_names names;

    const uint8_t *token_key; /* 32 bytes; signs access tokens and download links */
    int token_lifetime_s;
    const struct directory *directory; /* whose tokens are good */
    const struct api_watch *watch;     /* NULL: nobody watches */
    int retry_after_s; /* how long a 202 and an InProgress operation ask clients to wait */
};

/* Binds and serves. ERR_CONFIG: an address cannot be bound, with the address in the message; the
 * loop must still turn to close what was opened before. */
int api_create(const struct api_config *c, struct api **out, struct err *e) MUST_CHECK;
/* "https://127.0.0.1:7443": the first listening address with its real port. */
const char *api_endpoint(const struct api *api);
/* The same of the first address that is loopback or all of them; if there is none, of the first. */
const char *api_local_endpoint(const struct api *api);
/* Since the start. */
struct api_counters {
    uint64_t connections; /* accepted */
    uint64_t hung_up;     /* how many of them we closed: silent, or too many */
    uint64_t requests;    /* requests whose head was read */
    uint64_t refused;     /* of these, before a handler was called */
    uint64_t failed;      /* of these, answered with 5xx */
    uint64_t waited;      /* of these, whose reply waited for the disk */
    uint64_t body_bytes;  /* read of bodies */
    uint64_t slow;        /* handlers that took longer in one piece than LOOP_SLOW_US */
    uint64_t longest_us;  /* the longest of these pieces */
};
struct api_counters api_counters(const struct api *api);

/* Sends the replies that became ready in this loop turn. Call it at each turn end, after
 * st_turn_end(). */
void api_turn(struct api *api);
/* Stops accepting, finishes what is under way, then calls `cb` and frees api. */
void api_stop(struct api *api, void (*cb)(void *ctx), void *ctx);

#endif
