/* SPDX-License-Identifier: MIT
 *
 * An arena has blocks of one page, or larger ones for larger allocations. It allocates from the
 * newest block, and frees no block before its end. arena_reset() keeps a small block for the next
 * use. Memory is aligned for max_align_t. Only one thread at a time may use an arena.
 */
#include "lib/arena.h"
#include "lib/work.h"

#include <ctype.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 4064 /* bytes; together with malloc()'s header it is one page */

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    alignas(max_align_t) char data[];
};

#define SMALL_ROOM (BLOCK_SIZE - sizeof(struct arena_block))

void *xcalloc(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        work_give_up();
    return p;
}

void *xrealloc(void *p, size_t size)
{
    void *q = realloc(p, size);
    if (!q)
        work_give_up();
    return q;
}

char *xstrdup(const char *s)
{
    char *p = strdup(s);
    if (!p)
        work_give_up();
    return p;
}

void arena_init(struct arena *a)
{
    a->head = NULL;
}

void arena_free(struct arena *a)
{
    while (a->head) {
        struct arena_block *next = a->head->next;
        free(a->head);
        a->head = next;
    }
}

void arena_reset(struct arena *a)
{
    struct arena_block *kept = NULL;
    while (a->head) {
        struct arena_block *b = a->head;
        a->head = b->next;
        if (!kept && b->size == SMALL_ROOM) {
            kept = b;
            memset(b->data, 0, b->used);
            b->used = 0;
            b->next = NULL;
        } else {
            free(b);
        }
    }
    a->head = kept;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (!a->head || a->head->size - a->head->used < size) {
        size_t room = size > BLOCK_SIZE / 2 ? size : SMALL_ROOM;
        struct arena_block *b = xcalloc(1, sizeof *b + room);
        b->size = room;
        b->next = a->head;
        a->head = b;
    }
    void *p = a->head->data + a->head->used;
    a->head->used += size;
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    memcpy(p, s, n);
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_concat_list(struct arena *a, const char *const *texts)
{
    size_t n = 0;
    for (const char *const *s = texts; *s; s++)
        n += strlen(*s);
    char *out = arena_alloc(a, n + 1), *end = out;
    for (const char *const *s = texts; *s; s++)
        end = stpcpy(end, *s);
    return out;
}

char *arena_lower(struct arena *a, const char *s)
{
    char *copy = arena_strdup(a, s ? s : "");
    for (char *p = copy; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return copy;
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    char short_text[256]; /* most texts fit, and need not be printed twice */
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(short_text, sizeof short_text, fmt, ap);
    if (n < 0)
        work_give_up();
    char *p = NULL;
    if ((size_t)n < sizeof short_text) {
        p = arena_strndup(a, short_text, (size_t)n);
    } else {
        p = arena_alloc(a, (size_t)n + 1);
        vsnprintf(p, (size_t)n + 1, fmt, again);
    }
    va_end(again);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return text;
}
