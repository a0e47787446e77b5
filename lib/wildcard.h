/* SPDX-License-Identifier: MIT
 *
 * Patterns of names: "*" matches any text, "?" one character of UTF-8; all other characters match
 * themselves, so that command lines with brackets and backslashes can be patterns. Takes at most
 * the product of both lengths in steps.
 */
#ifndef LIB_WILDCARD_H
#define LIB_WILDCARD_H

#include <stdbool.h>

enum wildcard_case { WILDCARD_EXACT, WILDCARD_ANY_CASE /* case of ASCII letters */ };

bool wildcard_match(const char *pattern, const char *text, enum wildcard_case letters);

#endif
