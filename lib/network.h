/* SPDX-License-Identifier: MIT
 *
 * Addresses and networks of IPv4 and IPv6. An address of IPv4 equals its IPv4-mapped address of
 * IPv6 (RFC 4291, 2.5.5.2), because an IPv6 socket reports the addresses of IPv4 clients in that
 * form.
 */
#ifndef LIB_NETWORK_H
#define LIB_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"

struct net_address {
    unsigned char byte[16];
};
struct network {
    struct net_address first;
    int bits; /* how many leading bits all addresses of the network share: 0 to 128 */
};

/* Reads the first n bytes of `text`; -1: they are not an address. */
int net_address_read(const char *text, size_t n, struct net_address *out) MUST_CHECK;
/* Reads "10.1.0.0/16", "fd00::/8", or a single address. For another text: ERR_INVALID_PROPERTY
 * without a target; the message describes the mistake. An address with bits set behind the prefix
 * ("10.1.2.3/16") is refused, because it is most likely a slip. */
int network_read(const char *text, struct network *out, struct err *e) MUST_CHECK;
bool network_has(const struct network *net, const struct net_address *a);

#endif
