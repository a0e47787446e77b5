/* SPDX-License-Identifier: MIT
 *
 * Connections from accept to close: their number, their addresses, and which are half-open, that
 * is, have not yet sent the head of a request. A half-open connection is closed `patience_ms`
 * after accept, its TLS handshake included. A connection whose request's body comes more slowly
 * than BODY_BYTES_PER_MS is closed `patience_ms` later than a body of that speed would have come.
 * If there are too many connections, in all or from one address, closes the oldest half-open one,
 * else the one that has been idle longest, else the oldest whose body is discarded, else the new
 * one; so idle connections and refused requests keep no client out.
 *
 * accepted -> fresh -> busy (a request is under way) <-> idle
 *                      busy -> reading or discarding (of a body) -> busy
 *
 * Closes a connection by shutting its socket down; libmicrohttpd then notices the end.
 */
#ifndef API_HTTP_CONNECTIONS_H
#define API_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#define CONNECTIONS_MAX    4000 /* fewer if there are few descriptors */
#define CONNECTIONS_OF_ONE 1024
/* failed logins of one account from one address, at once; then */
#define LOGIN_FAILURES_AT_ONCE 30
#define LOGIN_FAILURE_EVERY_MS 2000 /* one in this time */
#define LOGIN_ACCOUNTS         256  /* accounts per address whose failures are remembered */

#define BODY_BYTES_PER_MS 4 /* the lowest speed of a body, after the patience */

#define CONNECTION_ADDRESS_SIZE 33

struct api_listen;
struct connections;
struct connection;

/* `owner`: given to the callers of each connection. `max`: the most connections at a time. */
struct connections *connections_create(uv_loop_t *loop, void *owner, uint64_t patience_ms, int max);
/* How many connections were opened so far, and how many of them the daemon closed. */
void connections_count(const struct connections *all, uint64_t *opened, uint64_t *hung_up);
/* Call after all connections are closed. Frees after the loop has closed the timer, then calls
 * `cb`. */
void connections_close(struct connections *all, void (*cb)(void *ctx), void *ctx);

/* `fd` and `door` are borrowed until connection_closed(). */
struct connection *connection_opened(struct connections *all, int fd, const struct sockaddr *from,
                                     const struct api_listen *door);
void connection_closed(struct connection *c);
void *connection_owner(const struct connection *c);
const struct api_listen *connection_door(const struct connection *c);
/* busy: the head of a request has arrived. idle: the request has ended. */
void connection_busy(struct connection *c);
void connection_idle(struct connection *c);
/* `n` more bytes of an incomplete body have come; 0: the body begins. `wanted`: somebody uses it;
 * otherwise it is discarded. connection_busy() ends this state. Not for a body whose reader may let
 * the client wait. */
void connection_reads(struct connection *c, size_t n, bool wanted);
/* Serves no further request on this connection: discards everything until it is closed. */
void connection_refuse(struct connection *c);
/* The connection's bytes came over TLS, although its engine is for plain HTTP (relay.h). */
void connection_set_tls(struct connection *c);
bool connection_is_tls(const struct connection *c);
/* Closes it by shutting its socket down. */
void connection_hang_up(struct connection *c);
/* For a connection that lasts: small pieces are sent at once, and TCP notices a client that is
 * gone. */
void connection_lasts(const struct connection *c);
/* Like connection_lasts(), if the daemon sends without being asked: the system also keeps little of
 * what the client does not read, and gives up a client that acknowledges nothing. */
void connection_streams(const struct connection *c);
/* The most connections at a time. */
int connection_most(const struct connection *c);
bool connection_refused(const struct connection *c);
/* The client's address for limits, in hexadecimal digits; of an IPv6 address only the network. */
void connection_address(const struct connection *c, char out[CONNECTION_ADDRESS_SIZE]);

/* connection_login_failed() counts a failed login by address and account (in any case of its name).
 * connection_may_log_in(): whether the client may try now (now_ms: monotonic). Guesses at one
 * account do not block other accounts. */
bool connection_may_log_in(const struct connection *c, const char *account, uint64_t now_ms);
void connection_login_failed(struct connection *c, const char *account, uint64_t now_ms);

/* Work that is done for one request per address at a time, so that one address does not use the
 * whole capacity. Embedded by the caller. */
struct connection_turn {
    struct connection_turn *next;
    void (*go)(struct connection_turn *t); /* its turn has come */
};
/* True: the turn begins now, and go() is not called. The caller must call connection_end_turn()
 * once, during the request. */
bool connection_take_turn(struct connection *c, struct connection_turn *t);
void connection_end_turn(struct connection *c);

#endif
