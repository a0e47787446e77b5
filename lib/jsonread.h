/* SPDX-License-Identifier: MIT
 *
 * Like json_loadb(), but faster for usual bodies and documents. jansson reads a text character by
 * character, with some 150 instructions each. This parser copies whole strings at once. If the text
 * has rare parts (\u escapes, fractions, deep nesting, any error), jansson parses it instead, so
 * the tree or the error is always the same as jansson's.
 */
#ifndef LIB_JSONREAD_H
#define LIB_JSONREAD_H

#include <jansson.h>
#include <stddef.h>

/* Like json_loadb(), with the flags JSON_REJECT_DUPLICATES, JSON_DECODE_ANY and
 * JSON_DISABLE_EOF_CHECK, or none. Leaves no copy of a text in memory outside the tree. */
json_t *jsonread(const char *s, size_t n, size_t flags, json_error_t *error);
/* Like jsonread(), for a text that ends with '\0'. */
json_t *jsonread_text(const char *s, size_t flags, json_error_t *error);
/* An upper bound for the number of values in a text; a tree takes some 100 bytes for each. Counts
 * brackets and commas, which costs a hundredth of building the tree. */
size_t jsonread_values(const char *s, size_t n);

#endif
