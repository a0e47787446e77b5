/* SPDX-License-Identifier: MIT */
#include "lib/guid.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define BYTES 16

static void random_bytes(void *bytes, size_t n)
{
    if (getrandom(bytes, n, 0) != (ssize_t)n)
        abort(); /* up to 256 bytes are never short once the kernel has started */
}

/* 8-4-4-4-12. */
static bool dash_at(int i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

static void write_out(unsigned char u[BYTES], unsigned char version, char out[GUID_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    u[6] = (u[6] & 0x0f) | (unsigned char)(version << 4);
    u[8] = (u[8] & 0x3f) | 0x80; /* RFC 9562's variant */
    for (int i = 0, half = 0; i < GUID_SIZE - 1; i++) {
        if (dash_at(i)) {
            out[i] = '-';
            continue;
        }
        out[i] = digits[half % 2 == 0 ? u[half / 2] >> 4 : u[half / 2] & 0x0f];
        half++;
    }
    out[GUID_SIZE - 1] = '\0';
}

void guid_new(char out[GUID_SIZE])
{
    unsigned char u[BYTES];
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
    if (strlen(s) != GUID_SIZE - 1)
        return false;
    for (int i = 0; s[i]; i++)
        if (dash_at(i) ? s[i] != '-' : !isxdigit((unsigned char)s[i]))
            return false;
    return true;
}
