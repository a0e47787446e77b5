/* SPDX-License-Identifier: MIT
 *
 * Assertions about messages: assert_says(text, "one part", "another part") fails unless the text
 * has each part, and prints the text and the first part that is missing.
 */
#ifndef TEST_UNIT_SUPPORT_SAYS_H
#define TEST_UNIT_SUPPORT_SAYS_H

#include <stdbool.h>
#include <string.h>

#include "test/unit/support/tests.h"

static inline void check_says(const char *text, const char *const *parts, bool expected,
                              const char *file, int line)
{
    for (; *parts; parts++) {
        if (text && (strstr(text, *parts) != NULL) == expected)
            continue;
        print_error("%s: \"%s\"\nfound: \"%s\"\n", expected ? "expected" : "not expected", *parts,
                    text ? text : "(NULL)");
        _fail(file, line);
    }
}

#define assert_says(text, ...)                                                                     \
    check_says(text, (const char *const[]){__VA_ARGS__, NULL}, true, __FILE__, __LINE__)

/* Fails if the text has one of the parts. */
#define assert_says_not(text, ...)                                                                 \
    check_says(text, (const char *const[]){__VA_ARGS__, NULL}, false, __FILE__, __LINE__)

#endif
