/* SPDX-License-Identifier: MIT
 *
 * TLS of connections that will leave HTTP (upgrade.h), in front of the engine for plain HTTP: the
 * TLS of libmicrohttpd passes bytes of an upgraded connection on by fours. Such a client offers the
 * protocol by ALPN, so its connection is known before the handshake.
 *
 * client -- TLS -- relay -- socketpair -- engine
 *
 * The client's socket stays open until the engine has closed its end: `connection` names it.
 */
#ifndef API_HTTP_RELAY_H
#define API_HTTP_RELAY_H

#include "api/http/listener.h"

struct api;

/* Whether the client whose first bytes wait in the socket wants this. */
bool relay_is_for(int fd);
/* Takes over the arrival's descriptor. Returns the descriptor for the engine; -1: there are none
 * left, and the client's is closed. */
int relay_open(struct api *api, const struct arrival *a);
/* Lets the engine's ends see the end of all clients. */
void relay_hurry(struct api *api);

#endif
