/* SPDX-License-Identifier: MIT
 *
 * The capacity doubles as the text grows, so the amortized cost of adding is constant. Invariant: s
 * is NULL before the first text; then s points to cap bytes, of which the first len are the text,
 * followed by a NUL. Memory never runs out here: xrealloc() ends the process.
 */
#include "lib/strbuf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/work.h"

#define PRINT_GUESS 63  /* most printed texts fit, so their length need not be measured first */
#define FIRST_ROOM  256 /* most texts fit, so they need not be moved as they grow */

static void reserve(struct strbuf *b, size_t more)
{
    /* The caller of strbuf_room() must not have written beyond the room. */
    assert(b->cap ? b->len < b->cap : b->len == 0);
    size_t need = b->len + more + 1;
    if (need <= b->cap)
        return;
    size_t cap = b->cap ? b->cap : FIRST_ROOM;
    while (cap < need)
        cap *= 2;
    b->s = xrealloc(b->s, cap);
    b->cap = cap;
}

char *strbuf_room(struct strbuf *b, size_t n)
{
    reserve(b, n);
    return b->s + b->len;
}

void strbuf_add(struct strbuf *b, const void *data, size_t n)
{
    reserve(b, n);
    if (n)
        memcpy(b->s + b->len, data, n);
    b->len += n;
    b->s[b->len] = '\0';
}

void strbuf_puts(struct strbuf *b, const char *s)
{
    strbuf_add(b, s, strlen(s));
}

void strbuf_concat_list(struct strbuf *b, const char *const *texts)
{
    for (const char *const *s = texts; *s; s++)
        strbuf_puts(b, *s);
}

void strbuf_int(struct strbuf *b, int64_t v)
{
    char digits[20]; /* digits of the largest number, and a sign */
    char *p = digits + sizeof digits;
    uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do
        *--p = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (v < 0)
        *--p = '-';
    strbuf_add(b, p, (size_t)(digits + sizeof digits - p));
}

void strbuf_putc(struct strbuf *b, char c)
{
    char *at = strbuf_room(b, 1);
    at[0] = c;
    at[1] = '\0';
    b->len++;
}

void strbuf_printf(struct strbuf *b, const char *fmt, ...)
{
    reserve(b, PRINT_GUESS);
    for (;;) {
        size_t room = b->cap - b->len;
        va_list ap;
        va_start(ap, fmt);
        int n = vsnprintf(b->s + b->len, room, fmt, ap);
        va_end(ap);
        if (n < 0)
            work_give_up();
        if ((size_t)n < room) {
            b->len += (size_t)n;
            return;
        }
        reserve(b, (size_t)n);
    }
}

void strbuf_cut(struct strbuf *b, size_t len)
{
    assert(len <= b->len);
    b->len = len;
    if (b->s)
        b->s[len] = '\0';
}

void strbuf_reset(struct strbuf *b)
{
    strbuf_cut(b, 0);
}

char *strbuf_take(struct strbuf *b)
{
    reserve(b, 0);
    b->s[b->len] = '\0';
    char *s = b->s;
    *b = (struct strbuf)STRBUF_INIT;
    return s;
}

void strbuf_free(struct strbuf *b)
{
    free(b->s);
    *b = (struct strbuf)STRBUF_INIT;
}
