/* SPDX-License-Identifier: MIT
 *
 * Reads the first message of a TLS client (ClientHello: RFC 8446, section 4.1.2).
 */
#ifndef API_HTTP_HELLO_H
#define API_HTTP_HELLO_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the client offers this protocol by ALPN (RFC 7301). False also if the bytes end before
 * that part, or are no ClientHello. */
bool hello_offers(const void *bytes, size_t n, const char *protocol);

#endif
