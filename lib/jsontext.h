/* SPDX-License-Identifier: MIT
 *
 * JSON values as compact text, equal to that of json_dumps(JSON_COMPACT). jansson searches for
 * cycles at every object and array, which is most of its cost; here all values must be trees.
 */
#ifndef LIB_JSONTEXT_H
#define LIB_JSONTEXT_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

/* Appends a value of any kind; it must be a tree. */
void jsontext_add(struct strbuf *b, const json_t *value);
/* How many of the first n bytes need no escape in a string. */
size_t jsontext_plain(const char *s, size_t n);
/* Appends a string: n bytes of UTF-8. */
void jsontext_add_text(struct strbuf *b, const char *s, size_t n);
char *jsontext(const json_t *value); /* caller frees */
/* In an arena; NULL for NULL. The second function steals the value. So does the third, and returns
 * NULL for an empty object or list. */
const char *jsontext_in(struct arena *a, const json_t *value);
const char *jsontext_new_in(struct arena *a, json_t *value);
const char *jsontext_filled_in(struct arena *a, json_t *value);

/* jansson refuses bytes that are not UTF-8, and NULL. The next functions turn texts from outside
 * into JSON strings. */
bool jsontext_is_utf8(const char *s, size_t n);
/* The length in bytes of the first character of `s`; 0: not UTF-8. */
size_t jsontext_character(const char *s);
/* `s` as a JSON string, never NULL: bytes that are not UTF-8 become U+FFFD. */
json_t *jsontext_string(const char *s);
/* NULL for NULL: for `o*` of json_pack(). */
json_t *jsontext_optional(const char *s);
/* Like jsontext_string(), in place, in a buffer of `size` bytes. A text that fills the buffer was
 * cut: an incomplete character at its end is removed. */
void jsontext_mend(char *s, size_t size);
/* The longest prefix of `s` of at most `max` bytes that ends with a whole character. */
size_t jsontext_cut(const char *s, size_t max);

#endif
