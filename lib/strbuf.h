/* SPDX-License-Identifier: MIT
 *
 * A growing string. After the first addition, a NUL always terminates it. The caller owns it, and
 * at the end either frees it with strbuf_free() or takes its text with strbuf_take().
 */
#ifndef LIB_STRBUF_H
#define LIB_STRBUF_H

#include <stddef.h>
#include <stdint.h>

struct strbuf {
    char *s; /* NULL until the first byte */
    size_t len, cap;
};

#define STRBUF_INIT                                                                                \
    {                                                                                              \
        NULL, 0, 0                                                                                 \
    }

void strbuf_add(struct strbuf *b, const void *data, size_t n);
void strbuf_puts(struct strbuf *b, const char *s);
void strbuf_putc(struct strbuf *b, char c);
void strbuf_printf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds all texts. */
#define strbuf_concat(b, ...) strbuf_concat_list(b, (const char *const[]){__VA_ARGS__, NULL})
void strbuf_concat_list(struct strbuf *b, const char *const *texts); /* ends with NULL */
void strbuf_int(struct strbuf *b, int64_t v);                        /* in decimal */
/* Makes room for n more bytes and a NUL; the caller adds the written bytes to `len`. */
char *strbuf_room(struct strbuf *b, size_t n);
void strbuf_cut(struct strbuf *b, size_t len); /* shortens to an earlier length */
void strbuf_reset(struct strbuf *b);           /* empty, memory kept */
char *strbuf_take(struct strbuf *b);           /* transfers the text ("" if empty); caller frees */
void strbuf_free(struct strbuf *b);

#endif
