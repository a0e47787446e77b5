/* SPDX-License-Identifier: MIT
 *
 * Compares from left to right and remembers only the last star, so the time is at most proportional
 * to the product of both lengths.
 */
#include "lib/wildcard.h"

#include <stddef.h>
#include <strings.h>

static size_t character(const char *text)
{
    size_t n = 1;
    while (((unsigned char)text[n] & 0xc0U) == 0x80)
        n++;
    return n;
}

static bool is_same(char a, char b, enum wildcard_case letters)
{
    return a == b || (letters == WILDCARD_ANY_CASE && strncasecmp(&a, &b, 1) == 0);
}

/* After a mismatch only the last star takes one more character: earlier stars matched as little as
 * possible and need no change. */
bool wildcard_match(const char *pattern, const char *text, enum wildcard_case letters)
{
    const char *behind_star = NULL, *taken = NULL;
    while (*text) {
        if (*pattern == '*') {
            behind_star = ++pattern;
            taken = text;
        } else if (*pattern == '?') {
            pattern++;
            text += character(text);
        } else if (*pattern && is_same(*pattern, *text, letters)) {
            pattern++;
            text++;
        } else if (behind_star) {
            pattern = behind_star;
            text = ++taken;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
