/* SPDX-License-Identifier: MIT
 *
 * Connections, from accept to close: their number, their addresses, and which of them have not yet
 * shown that there is a client. One that has not sent the head of a request `first_head_ms` after
 * it was accepted, its TLS handshake included, is closed; so nobody can keep half-open ones. If
 * there are too many, in all or from one address, the oldest half-open one is closed, otherwise the
 * one that has been idle for longest, otherwise the new one. So connections that do nothing shut
 * nobody out.
 *
 *     accepted -> fresh -> busy (a request is under way) <-> idle
 *
 * A connection is closed by shutting its socket down; libmicrohttpd then finds its end.
 */
#ifndef API_HTTP_CONNECTIONS_H
#define API_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#define CONNECTIONS_MAX        4000 /* fewer if there are few descriptors */
#define CONNECTIONS_OF_ONE     1024
#define LOGIN_FAILURES_AT_ONCE 30   /* of one account from one address; then */
#define LOGIN_FAILURE_EVERY_MS 2000 /* one in this time */
#define LOGIN_ACCOUNTS         256  /* of one address, whose failures are remembered */

struct api_listen;
struct connections;
struct connection;

/* `owner`: whom each connection knows. `max`: how many at a time. */
struct connections *connections_create(uv_loop_t *loop, void *owner, uint64_t first_head_ms,
                                       int max);
/* How many there were, and how many of them we closed. */
void connections_count(const struct connections *all, uint64_t *opened, uint64_t *hung_up);
/* All connections must be closed. Frees when the loop has closed its timer, then calls `cb`. */
void connections_close(struct connections *all, void (*cb)(void *ctx), void *ctx);

/* `fd` and `door` are borrowed until connection_closed(). */
struct connection *connection_opened(struct connections *all, int fd, const struct sockaddr *from,
                                     const struct api_listen *door);
void connection_closed(struct connection *c);
void *connection_owner(const struct connection *c);
const struct api_listen *connection_door(const struct connection *c);
/* busy: the head of a request is there. idle: the request is over. */
void connection_busy(struct connection *c);
void connection_idle(struct connection *c);
/* No request is served on this connection any more: everything it sends is thrown away until it is
 * closed. */
void connection_refuse(struct connection *c);
bool connection_refused(const struct connection *c);

/* Failed logins are counted by address and account, in whatever case its name is: whether this one
 * may try (now_ms: monotonic), and that it has failed. So who guesses at one account shuts nobody
 * out of another. */
bool connection_may_log_in(const struct connection *c, const char *account, uint64_t now_ms);
void connection_login_failed(struct connection *c, const char *account, uint64_t now_ms);

/* Work that is done for one request of an address at a time, so that one address does not take all
 * of it. Embedded by the caller. */
struct connection_turn {
    struct connection_turn *next;
    void (*go)(struct connection_turn *t); /* its turn has come */
};
/* True: it is its turn now, and go() is not called. connection_end_turn() follows once, while the
 * request is still under way. */
bool connection_take_turn(struct connection *c, struct connection_turn *t);
void connection_end_turn(struct connection *c);

#endif
