/* SPDX-License-Identifier: MIT
 *
 * The HTTP room: a libmicrohttpd daemon per listening socket, without threads of its own (its epoll
 * descriptor is one uv_poll on the loop), and the services it speaks, a folder each: batchai/,
 * arm/, aad/, storage/. A request flows server -> router (one route table) -> handler -> reply; a
 * reply leaves only once everything written so far is on disk (st_when_durable).
 *
 * Borrows everything in its configuration; owns the sockets and requests under way.
 */
#ifndef API_API_H
#define API_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "lib/err.h"
#include "lib/log.h"
#include "lib/timefmt.h"

struct api;
struct storage;
struct sched;

struct api_listen {
    const char *host; /* IPv4 or IPv6 literal, or "localhost" for both loopback addresses */
    int port;         /* 0: any free one */
};

struct api_config {
    uv_loop_t *loop;
    struct storage *storage;
    struct sched *sched;
    const struct log *log;
    struct clock clock;

    const struct api_listen *listen;
    size_t n_listen;
    const char *cert_pem, *key_pem; /* PEM text of the server certificate (chain) and its key */

    const char *subscription_id, *subscription_name;
    const char *client_id, *client_secret; /* the one service principal */
    const uint8_t *token_key;              /* 32 bytes; signs access tokens and download links */
    int token_lifetime_s;

    const char *storage_dir; /* shares are folders below it */
    int retry_after_s;       /* what a 202 and an InProgress operation ask clients to wait */
    bool strict;       /* reproduce the service: Retry-After 15 on 202, none on InProgress; HSTS */
    int cluster_quota; /* how many clusters a subscription may have */
    int core_quota;    /* shown by usages */
};

/* Binds and serves. ERR_CONFIG: an address cannot be bound, with the address in the message; the
 * loop must still turn to close what was opened before. */
int api_create(const struct api_config *c, struct api **out, struct err *e) MUST_CHECK;
/* "https://127.0.0.1:7443": the first listening address with its real port. */
const char *api_endpoint(const struct api *api);
/* Sends what became ready in this loop turn. Call at each turn end, after st_turn_end(). */
void api_turn(struct api *api);
/* Stops accepting, finishes what is under way, then calls `cb` and frees api. */
void api_stop(struct api *api, void (*cb)(void *ctx), void *ctx);

#endif
