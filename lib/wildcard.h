/* SPDX-License-Identifier: MIT
 *
 * Patterns of names: "*" is any text, "?" one character of UTF-8, and all else is itself, so that
 * command lines with brackets and backslashes can be patterns. Takes at most the product of both
 * lengths in steps.
 */
#ifndef LIB_WILDCARD_H
#define LIB_WILDCARD_H

#include <stdbool.h>

enum wildcard_case { WILDCARD_EXACT, WILDCARD_ANY_CASE /* of the letters of ASCII */ };

bool wildcard_match(const char *pattern, const char *text, enum wildcard_case letters);

#endif
