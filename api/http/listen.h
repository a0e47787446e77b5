/* SPDX-License-Identifier: MIT
 *
 * Makes listening sockets from "host, port" settings. "localhost" means both loopback addresses on
 * one port (only 127.0.0.1 if the machine has no IPv6).
 */
#ifndef API_HTTP_LISTEN_H
#define API_HTTP_LISTEN_H

#include "api/http/http.h"

struct listen_socket {
    int fd; /* owned by the caller */
    int port;
    const struct api_listen *listen; /* the setting of the socket; borrowed */
    char url_host[80];               /* "127.0.0.1", "[::1]" */
};

int listen_open(const struct api_listen *addrs, size_t n_addrs, struct listen_socket *out,
                size_t max, size_t *n, struct err *e) MUST_CHECK;
void listen_close(int fd);

/* The first socket at a loopback address or at all addresses; without one, the first socket.
 * Sockets with only one service are ignored. */
const struct listen_socket *listen_local(const struct listen_socket *sockets, size_t n);

#endif
