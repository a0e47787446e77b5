/* SPDX-License-Identifier: MIT
 *
 * TLS for connections that will leave HTTP (upgrade.h), in front of the engine for plain HTTP.
 * Reason: libmicrohttpd's own TLS forwards the bytes of an upgraded connection only four at a time.
 * Such a client offers the protocol by ALPN, so its connection is recognized before the handshake.
 *
 * client -- TLS -- relay -- socketpair -- engine
 *
 * The client's socket stays open until the engine has closed its socket, because the struct
 * connection uses it.
 */
#ifndef API_HTTP_RELAY_H
#define API_HTTP_RELAY_H

#include "api/http/listener.h"

struct api;

/* Whether the connection needs a relay, by the client's first bytes, which stay in the socket. */
bool relay_is_for(int fd);
/* Takes over the arrival's descriptor. Returns the descriptor for the engine; -1: no descriptors
 * are left, and the arrival's descriptor was closed. */
int relay_open(struct api *api, const struct arrival *a);
/* Lets the engine read the end of the stream on all relayed connections. */
void relay_hurry(struct api *api);

#endif
