/* SPDX-License-Identifier: MIT
 *
 * json_loadb(), faster for usual bodies and documents. jansson takes a text in character by
 * character, some 150 instructions each. Here whole strings are copied at once; rare parts (\u
 * escapes, fractions, deep nesting, any error) are left to jansson, so that the tree or the error
 * is the one that jansson gives.
 */
#ifndef LIB_JSONREAD_H
#define LIB_JSONREAD_H

#include <jansson.h>
#include <stddef.h>

/* Like json_loadb(), with its flags JSON_REJECT_DUPLICATES, JSON_DECODE_ANY and
 * JSON_DISABLE_EOF_CHECK or none. Leaves no copy of a text in memory outside of the tree. */
json_t *jsonread(const char *s, size_t n, size_t flags, json_error_t *error);
/* Like jsonread(), for a text that ends with '\0'. */
json_t *jsonread_text(const char *s, size_t flags, json_error_t *error);
/* An upper bound for the number of values in a text; a tree takes some 100 bytes for each. Counts
 * brackets and commas, at a hundredth of the cost of building the tree. */
size_t jsonread_values(const char *s, size_t n);

#endif
