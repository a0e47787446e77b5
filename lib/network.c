/* SPDX-License-Identifier: MIT */
#include "lib/network.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_BITS 128
#define MAPPED_BITS  96 /* the bits before the IPv4 address in an IPv4-mapped address */

int net_address_read(const char *text, size_t n, struct net_address *out)
{
    char copy[INET6_ADDRSTRLEN];
    memset(out, 0, sizeof *out);
    if (n >= sizeof copy)
        return -1;
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (inet_pton(AF_INET, copy, out->byte + MAPPED_BITS / 8) == 1) {
        out->byte[10] = out->byte[11] = 0xff;
        return 0;
    }
    return inet_pton(AF_INET6, copy, out->byte) == 1 ? 0 : -1;
}

/* Whether the first `bits` bits of the addresses are equal. */
static bool agree(const struct net_address *a, const struct net_address *b, int bits)
{
    int whole = bits / 8, rest = bits % 8;
    unsigned mask = 0xffU << (8 - rest) & 0xffU;
    return memcmp(a->byte, b->byte, (size_t)whole) == 0 &&
           (rest == 0 || ((a->byte[whole] ^ b->byte[whole]) & mask) == 0);
}

static int read_bits(const char *text, int before, struct network *out)
{
    char *end;
    if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 3)
        return -1;
    out->bits = before + (int)strtol(text, &end, 10);
    return out->bits <= ADDRESS_BITS ? 0 : -1;
}

int network_read(const char *text, struct network *out, struct err *e)
{
    size_t n = strcspn(text, "/");
    int before = memchr(text, ':', n) ? 0 : MAPPED_BITS;
    out->bits = ADDRESS_BITS;
    if (net_address_read(text, n, &out->first) < 0 ||
        (text[n] && read_bits(text + n + 1, before, out) < 0))
        return err_set(e, ERR_INVALID_PROPERTY, NULL,
                       "'%.100s' is not a network; use one like 10.1.0.0/16, fd00::/8 or 10.1.2.3",
                       text);
    struct net_address least = {{0}};
    for (int bit = 0; bit < out->bits; bit++)
        least.byte[bit / 8] |= out->first.byte[bit / 8] & (0x80U >> bit % 8);
    if (!agree(&least, &out->first, ADDRESS_BITS))
        return err_set(e, ERR_INVALID_PROPERTY, NULL,
                       "the address of '%.100s' is not the first address of a network with a "
                       "prefix of %d bits; write the first address, or a longer prefix",
                       text, out->bits - before);
    return 0;
}

bool network_has(const struct network *net, const struct net_address *a)
{
    return agree(&net->first, a, net->bits);
}
