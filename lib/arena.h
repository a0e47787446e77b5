/* SPDX-License-Identifier: MIT
 *
 * Allocations that are freed together, such as the rows that one request or one reconciler pass
 * reads, or a decoded job. The caller of arena_init() owns the arena; arena_free() frees all
 * allocations. Allocation never fails: out of memory ends the process (systemd starts it again; the
 * state on disk is consistent, see docs/architecture.md "Crash-only").
 */
#ifndef LIB_ARENA_H
#define LIB_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *head; /* newest block; NULL before the first allocation */
};

void arena_init(struct arena *a);
void arena_free(struct arena *a); /* a is empty and usable again afterwards */
/* Like arena_free(), but keeps one block for reuse. */
void arena_reset(struct arena *a);
void *arena_alloc(struct arena *a, size_t size);    /* zeroed, aligned for any type */
char *arena_strdup(struct arena *a, const char *s); /* NULL stays NULL */
char *arena_strndup(struct arena *a, const char *s, size_t n);
/* Joins all texts. */
#define arena_concat(a, ...) arena_concat_list(a, (const char *const[]){__VA_ARGS__, NULL})
char *arena_concat_list(struct arena *a, const char *const *texts); /* NULL ends `texts` */
char *arena_lower(struct arena *a, const char *s);                  /* in lower case; "" for NULL */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* Like malloc() and its family, but end the process instead of returning NULL. The caller frees
 * with free(). */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);

#endif
