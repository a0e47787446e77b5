/* SPDX-License-Identifier: MIT
 *
 * A client's end of TLS over a connected non-blocking socket, for those connections of the command
 * line to the daemon that do not use libcurl.
 */
#ifndef DAEMON_CERTS_TLS_CLIENT_H
#define DAEMON_CERTS_TLS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls_client;

/* `host`: a name or an address, for which the server's certificate must be valid; `trusted`: a PEM
 * file of authorities, NULL: the system's authorities; `protocol`: offered by ALPN. The caller
 * closes the socket. */
struct tls_client *tls_client_new(int fd, const char *host, const char *trusted,
                                  const char *protocol);
void tls_client_free(struct tls_client *t); /* NULL: nothing */
/* 1: the handshake is done; 0: call again when the socket is ready for *events (of poll()); -1:
 * failed. */
int tls_client_shake_hands(struct tls_client *t, short *events);
/* Both return how many bytes were sent or received; 0: none now; -1: the connection has ended.
 * After a 0 the next call of tls_client_send() must begin with the same bytes. */
ssize_t tls_client_send(struct tls_client *t, const void *bytes, size_t n);
ssize_t tls_client_recv(struct tls_client *t, void *bytes, size_t n);
/* Whether TLS has bytes for the caller that poll() on the socket does not show. */
bool tls_client_has_more(const struct tls_client *t);
/* Why the connection has ended; NULL: the other end has closed it. */
const char *tls_client_why(const struct tls_client *t);

#endif
