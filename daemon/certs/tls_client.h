/* SPDX-License-Identifier: MIT
 *
 * A client's end of TLS over a connected socket that does not block: for the command line's
 * connections to the daemon that libcurl does not make.
 */
#ifndef DAEMON_CERTS_TLS_CLIENT_H
#define DAEMON_CERTS_TLS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls_client;

/* `host`: a name or an address, for which the server's certificate must be valid; `trusted`: a PEM
 * file of authorities, NULL: the system's; `protocol`: offered by ALPN. The socket stays the
 * caller's. */
struct tls_client *tls_client_new(int fd, const char *host, const char *trusted,
                                  const char *protocol);
void tls_client_free(struct tls_client *t); /* NULL: nothing */
/* 1: the handshake is done; 0: call again when the socket is ready for *events (of poll()); -1:
 * failed. */
int tls_client_shake_hands(struct tls_client *t, short *events);
/* How many bytes were sent or received; 0: none now; -1: the connection has ended. After 0 the next
 * call of send must begin with the bytes of this call. */
ssize_t tls_client_send(struct tls_client *t, const void *bytes, size_t n);
ssize_t tls_client_recv(struct tls_client *t, void *bytes, size_t n);
/* Whether bytes wait that the socket does not show. */
bool tls_client_has_more(const struct tls_client *t);
/* Why the connection has ended; NULL: the other end has closed it. */
const char *tls_client_why(const struct tls_client *t);

#endif
