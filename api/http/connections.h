/* SPDX-License-Identifier: MIT
 *
 * Connections from accept to close: their number, their addresses, and which are half-open, that
 * is, have not yet sent the head of a request. A half-open connection is closed `patience_ms` after
 * accept; this time includes the TLS handshake. A connection whose request body is slower than
 * BODY_BYTES_PER_MS is closed `patience_ms` after the time that its bytes would need at that speed.
 * If there are too many connections, in all or from one address, one is closed: the oldest
 * half-open connection; without one, the connection that has been idle longest; without one, the
 * oldest whose body is discarded; otherwise the new one. So idle connections and refused requests
 * do not prevent others from connecting.
 *
 * accepted -> fresh (half-open) -> busy (a request is under way) <-> idle
 *                                  busy -> reading or discarding (of a body) -> busy
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

#define CONNECTIONS_MAX    4000 /* fewer if the system permits few descriptors */
#define CONNECTIONS_OF_ONE 1024
/* Failed logins of one account from one address: this many are permitted at once, */
#define LOGIN_FAILURES_AT_ONCE 30
#define LOGIN_FAILURE_EVERY_MS 2000 /* after them one in this time */
#define LOGIN_ACCOUNTS         256  /* accounts per address with stored failures */

#define BODY_BYTES_PER_MS 4 /* the lowest permitted speed of a body */

#define CONNECTION_ADDRESS_SIZE 33

struct api_listen;
struct connections;
struct connection;

/* `owner`: returned by connection_owner() of each connection. `max`: the most connections at a
 * time. */
struct connections *connections_create(uv_loop_t *loop, void *owner, uint64_t patience_ms, int max);
/* How many connections were opened so far, and how many of them the daemon closed. */
void connections_count(const struct connections *all, uint64_t *opened, uint64_t *hung_up);
/* Call it after all connections are closed. When the loop has closed the timer, frees `all` and
 * calls `cb`. */
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
/* `n` more bytes of an incomplete body were received; 0: the body begins. `wanted` false: the body
 * is discarded. connection_busy() ends this state. Do not call it for a body whose reader may let
 * the client wait. */
void connection_reads(struct connection *c, size_t n, bool wanted);
/* From now on no request on this connection is served: everything received is discarded until it is
 * closed. */
void connection_refuse(struct connection *c);
/* Records that the client uses TLS, although the connection's engine uses plain HTTP (relay.h). A
 * relayed connection has three descriptors and counts as three connections, so another connection
 * may be closed, or this one. */
void connection_set_relayed(struct connection *c);
bool connection_is_tls(const struct connection *c);
/* Closes the connection by shutting its socket down. */
void connection_hang_up(struct connection *c);
/* Sets socket options for a connection that stays open long: small pieces are sent at once, and TCP
 * detects a client that has vanished. */
void connection_lasts(const struct connection *c);
/* Like connection_lasts(), for a connection on which the daemon sends without requests: the system
 * also buffers only a little if the client does not read, and gives up a client that acknowledges
 * nothing. */
void connection_streams(const struct connection *c);
/* The most connections at a time. */
int connection_most(const struct connection *c);
bool connection_refused(const struct connection *c);
/* The client's address, as it is used for limits, in hexadecimal digits: of an IPv6 address only
 * the first 64 bits. */
void connection_address(const struct connection *c, char out[CONNECTION_ADDRESS_SIZE]);

/* connection_login_failed() counts a failed login by address and account (in any case of its name).
 * connection_may_log_in(): whether the client may try to log in now (now_ms: monotonic). Failed
 * logins of one account do not block other accounts. */
bool connection_may_log_in(const struct connection *c, const char *account, uint64_t now_ms);
void connection_login_failed(struct connection *c, const char *account, uint64_t now_ms);

/* A turn: expensive work is done for only one request of an address at a time, so that one address
 * cannot use the whole capacity. The caller embeds this struct in its own. */
struct connection_turn {
    struct connection_turn *next;
    void (*go)(struct connection_turn *t); /* called when its turn begins */
};
/* True: the turn begins now, and go() is not called; false: go() will be called when the turn
 * begins. The caller must end the turn once with connection_end_turn(), during the request. */
bool connection_take_turn(struct connection *c, struct connection_turn *t);
void connection_end_turn(struct connection *c);

#endif
