/* SPDX-License-Identifier: MIT */
#include "lib/base64.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *data, size_t n)
{
    const unsigned char *in = data;
    char *text = xcalloc(1, (n + 2) / 3 * 4 + 1), *out = text;
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        uint32_t v = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
                     (left > 2 ? in[i + 2] : 0U);
        *out++ = alphabet[v >> 18];
        *out++ = alphabet[v >> 12 & 63];
        *out++ = left > 1 ? alphabet[v >> 6 & 63] : '=';
        *out++ = left > 2 ? alphabet[v & 63] : '=';
    }
    return text;
}

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes a group of four characters into `bytes` bytes. -1: an invalid character, or an unused bit
 * that is not 0. */
static int decode_group(const char *text, size_t bytes, char *out)
{
    uint32_t v = 0;
    for (size_t i = 0; i < 4; i++) {
        int six = i <= bytes ? value_of(text[i]) : text[i] == '=' ? 0 : -1;
        if (six < 0)
            return -1;
        v = v << 6 | (uint32_t)six;
    }
    for (size_t i = 0; i < bytes; i++)
        out[i] = (char)(v >> (16 - 8 * i) & 0xff);
    return (v & ((1U << (24 - 8 * bytes)) - 1)) == 0 ? 0 : -1;
}

int base64_decode(const char *text, size_t len, char **out, size_t *n)
{
    *n = len / 4 * 3;
    if (len % 4 != 0)
        return -1;
    for (size_t i = 1; i <= 2 && i < len && text[len - i] == '='; i++)
        --*n;
    char *bytes = xcalloc(1, *n + 1);
    for (size_t done = 0, at = 0; at < len; at += 4) {
        size_t want = *n - done < 3 ? *n - done : 3;
        if (decode_group(text + at, want, bytes + done) < 0) {
            free(bytes);
            return -1;
        }
        done += want;
        assert(done <= *n);
    }
    *out = bytes;
    return 0;
}
