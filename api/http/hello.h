/* SPDX-License-Identifier: MIT
 *
 * Reads the first message of a TLS client (ClientHello: RFC 8446, section 4.1.2).
 */
#ifndef API_HTTP_HELLO_H
#define API_HTTP_HELLO_H

#include <stdbool.h>
#include <stddef.h>

#define HELLO_FIRST 0x16  /* the first byte: a record of a handshake */
#define HELLO_MAX   4096U /* a longer message is not read */

/* Whether the client offers this protocol by ALPN (RFC 7301). False also if the bytes end before
 * that part, or are no ClientHello. */
bool hello_offers(const void *bytes, size_t n, const char *protocol);

/* How many of the client's bytes hello_offers() needs, as far as the first n > 0 bytes tell: at
 * most HELLO_MAX; 0: they are not TLS. */
size_t hello_length(const void *bytes, size_t n);

#endif
