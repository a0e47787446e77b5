/* SPDX-License-Identifier: MIT
 *
 * Gets random bytes from the kernel, for many GUIDs at a time.
 */
#include "lib/guid.h"

#include <stdlib.h>
#include <sys/random.h>
#include <uuid/uuid.h>

static void random_bytes(void *bytes, size_t n)
{
    if (getrandom(bytes, n, 0) != (ssize_t)n)
        abort(); /* once the kernel is initialized, getrandom() of up to 256 bytes never fails */
}

static void write_out(uuid_t u, unsigned char version, char out[GUID_SIZE])
{
    u[6] = (u[6] & 0x0f) | (unsigned char)(version << 4);
    u[8] = (u[8] & 0x3f) | 0x80; /* RFC 9562's variant */
    uuid_unparse_lower(u, out);
}

void guid_new(char out[GUID_SIZE])
{
    uuid_t u;
    random_bytes(u, sizeof u);
    write_out(u, 4, out);
}

static unsigned char *next_random(struct guid_source *s)
{
    if (s->left == 0) {
        random_bytes(s->random, sizeof s->random);
        s->left = sizeof s->random / sizeof s->random[0];
    }
    return s->random[--s->left];
}

void guid_next(struct guid_source *s, char out[GUID_SIZE])
{
    write_out(next_random(s), 4, out);
}

void guid_next_at(struct guid_source *s, int64_t now_us, char out[GUID_SIZE])
{
    unsigned char *u = next_random(s);
    uint64_t ms = (uint64_t)(now_us / 1000);
    for (int i = 5; i >= 0; i--, ms >>= 8)
        u[i] = (unsigned char)ms;
    write_out(u, 7, out);
}

bool guid_valid(const char *s)
{
    uuid_t u;
    return uuid_parse(s, u) == 0;
}
