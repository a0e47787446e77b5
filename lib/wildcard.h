/* SPDX-License-Identifier: MIT
 *
 * Patterns of names: "*" matches any text, "?" one character of UTF-8; all other characters match
 * themselves, so that command lines with brackets and backslashes can be patterns. A comparison
 * takes at most as many steps as the product of both lengths.
 */
#ifndef LIB_WILDCARD_H
#define LIB_WILDCARD_H

#include <stdbool.h>

enum wildcard_case { WILDCARD_EXACT, WILDCARD_ANY_CASE /* case of ASCII letters */ };

bool wildcard_match(const char *pattern, const char *text, enum wildcard_case letters);

#endif
