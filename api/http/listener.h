/* SPDX-License-Identifier: MIT
 *
 * Where connections arrive: the listening sockets on the loop. A connection is accepted and counted
 * (connections.h), and its first byte tells whether it speaks TLS, before it goes on to an engine.
 * One whose client says nothing waits here, and is closed like every one that does not send a head
 * in time.
 */
#ifndef API_HTTP_LISTENER_H
#define API_HTTP_LISTENER_H

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "api/http/connections.h"
#include "api/http/listen.h"
#include "lib/log.h"

struct doors;

struct arrival {
    int fd; /* the receiver's */
    const struct sockaddr *from;
    socklen_t from_len;
    struct connection *connection; /* the receiver's: connection_closed() when it is over */
    bool tls;
};

struct doors_config {
    uv_loop_t *loop;
    const struct log *log;
    struct connections *connections;
    void (*arrived)(void *ctx, const struct arrival *a);
    void *ctx;
};

/* Takes over the sockets. */
struct doors *doors_open(const struct doors_config *c, const struct listen_socket *sockets,
                         size_t n);
/* Accepts no more, and closes the connections that have not gone on. Calls `cb` when it is freed.
 */
void doors_close(struct doors *d, void (*cb)(void *ctx), void *ctx);

#endif
