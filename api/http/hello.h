/* SPDX-License-Identifier: MIT
 *
 * The first message of a TLS client (RFC 8446, section 4.1.2), as far as a door needs it.
 */
#ifndef API_HTTP_HELLO_H
#define API_HTTP_HELLO_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the client offers this protocol by ALPN (RFC 7301). False also if the message is cut off
 * before that, or is no such message. */
bool hello_offers(const void *bytes, size_t n, const char *protocol);

#endif
