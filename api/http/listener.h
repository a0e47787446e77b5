/* SPDX-License-Identifier: MIT
 *
 * Accepts connections on the listening sockets. Registers each connection (connections.h), and
 * reads its first byte to distinguish TLS from HTTP, and with TLS waits for the whole first
 * message, before it passes the connection on. A connection whose client does not send these waits
 * here, and is closed like every other connection that sends no head in time.
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
    int fd; /* belongs to the receiver */
    const struct sockaddr *from;
    socklen_t from_len;
    struct connection *connection; /* the receiver calls connection_closed() */
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
/* Stops accepting, and closes the connections that no engine has yet. Calls `cb` after `d` was
 * freed. */
void doors_close(struct doors *d, void (*cb)(void *ctx), void *ctx);

#endif
