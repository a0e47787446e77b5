/* SPDX-License-Identifier: MIT
 *
 * Reads the message with a cursor that never leaves its bytes. Pure functions.
 */
#include "api/http/hello.h"

#include <string.h>

#define RECORD_HEADER  5
#define CLIENT_HELLO   1
#define VERSION        2
#define RANDOM         32
#define EXTENSION_ALPN 16

struct cursor {
    const unsigned char *at, *end;
};

static bool skip(struct cursor *c, size_t n)
{
    if ((size_t)(c->end - c->at) < n)
        return false;
    c->at += n;
    return true;
}

static bool take_number(struct cursor *c, size_t bytes, size_t *out)
{
    *out = 0;
    for (; bytes > 0; bytes--) {
        if (c->at == c->end)
            return false;
        *out = *out << 8 | *c->at++;
    }
    return true;
}

/* Reads a part with its length in `bytes` bytes before it, and moves `c` after the part. */
static bool take_part(struct cursor *c, size_t bytes, struct cursor *part)
{
    size_t n;
    if (!take_number(c, bytes, &n))
        return false;
    part->at = c->at;
    if (!skip(c, n))
        return false;
    part->end = c->at;
    return true;
}

static bool lists(struct cursor *alpn, const char *protocol)
{
    struct cursor list, one;
    size_t n = strlen(protocol);
    if (!take_part(alpn, 2, &list))
        return false;
    while (take_part(&list, 1, &one))
        if ((size_t)(one.end - one.at) == n && memcmp(one.at, protocol, n) == 0)
            return true;
    return false;
}

bool hello_offers(const void *bytes, size_t n, const char *protocol)
{
    struct cursor c = {bytes, (const unsigned char *)bytes + n}, hello, part, extensions;
    size_t kind, type;
    if (!take_number(&c, 1, &kind) || kind != HELLO_FIRST || !skip(&c, VERSION + 2) ||
        !take_number(&c, 1, &type) || type != CLIENT_HELLO || !take_part(&c, 3, &hello))
        return false;
    if (!skip(&hello, VERSION + RANDOM) || !take_part(&hello, 1, &part) ||
        !take_part(&hello, 2, &part) || !take_part(&hello, 1, &part) ||
        !take_part(&hello, 2, &extensions))
        return false;
    while (take_number(&extensions, 2, &type) && take_part(&extensions, 2, &part))
        if (type == EXTENSION_ALPN)
            return lists(&part, protocol);
    return false;
}

size_t hello_length(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    if (p[0] != HELLO_FIRST)
        return 0;
    size_t all = n < RECORD_HEADER ? RECORD_HEADER : RECORD_HEADER + ((size_t)p[3] << 8 | p[4]);
    return all < HELLO_MAX ? all : HELLO_MAX;
}
