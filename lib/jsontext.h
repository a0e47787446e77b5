/* SPDX-License-Identifier: MIT
 *
 * JSON values as compact text, equal to that of json_dumps(JSON_COMPACT). jansson checks every
 * object and array for cycles, which is most of its cost; here all values must be trees without
 * cycles.
 */
#ifndef LIB_JSONTEXT_H
#define LIB_JSONTEXT_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/arena.h"
#include "lib/strbuf.h"

/* Appends a value of any kind as JSON; it must be a tree without cycles. */
void jsontext_add(struct strbuf *b, const json_t *value);
/* How many of the first n bytes need no escape in a string. */
size_t jsontext_plain(const char *s, size_t n);
/* Appends a JSON string with the text `s`, n bytes of UTF-8. */
void jsontext_add_text(struct strbuf *b, const char *s, size_t n);
char *jsontext(const json_t *value); /* caller frees */
/* The value as text in an arena; NULL for NULL. The second and third function also decref the
 * value; the third returns NULL for an empty object or list. */
const char *jsontext_in(struct arena *a, const json_t *value);
const char *jsontext_new_in(struct arena *a, json_t *value);
const char *jsontext_filled_in(struct arena *a, json_t *value);

/* jansson refuses bytes that are not UTF-8, and NULL. So these functions make JSON strings of texts
 * from outside. */
bool jsontext_is_utf8(const char *s, size_t n);
/* The length in bytes of the first character of `s`; 0: `s` does not begin with a UTF-8
 * character. */
size_t jsontext_character(const char *s);
/* `s` as a JSON string, never NULL: each byte that is not UTF-8 becomes U+FFFD. */
json_t *jsontext_string(const char *s);
/* Like jsontext_string(), but NULL for NULL, as `o*` of json_pack() accepts it. */
json_t *jsontext_optional(const char *s);
/* Like jsontext_string(), but changes the text itself, in a buffer of `size` bytes. A text that
 * fills the buffer may have been cut, so an incomplete character at its end is removed. */
void jsontext_mend(char *s, size_t size);
/* The length of the longest prefix of `s` that has at most `max` bytes and ends with a whole
 * character. */
size_t jsontext_cut(const char *s, size_t max);

#endif
