/* SPDX-License-Identifier: MIT */
#include "lib/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LETTERS 64 /* a longer name is near to no other name */

struct nearest nearest_to(const char *given)
{
    return (struct nearest){.given = given, .distance = strlen(given) / 3 + 1};
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The Damerau-Levenshtein distance in which no part is changed twice ("optimal string alignment").
 * The algorithm fills a matrix with a row for each letter of `a`; only the last three rows are
 * kept. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][NAME_MAX_LETTERS + 1];
    for (size_t k = 0; k <= m; k++)
        rows[0][k] = k;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *last = rows[(i + 2) % 3];
        const size_t *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t k = 1; k <= m; k++) {
            row[k] = least(least(last[k], row[k - 1]) + 1, last[k - 1] + !same(a[i - 1], b[k - 1]));
            if (i > 1 && k > 1 && same(a[i - 1], b[k - 2]) && same(a[i - 2], b[k - 1]))
                row[k] = least(row[k], before[k - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

void nearest_offer(struct nearest *n, const char *name)
{
    size_t given = strlen(n->given), other = strlen(name);
    if (given > NAME_MAX_LETTERS || other > NAME_MAX_LETTERS)
        return;
    size_t found = distance(n->given, given, name, other);
    if (found >= n->distance)
        return;
    n->name = name;
    n->distance = found;
}

const char *nearest_words(const struct nearest *n, const char *prefix, char out[NEAREST_SIZE])
{
    *out = '\0';
    if (n->name)
        snprintf(out, NEAREST_SIZE, " (did you mean %.8s%s?)", prefix, n->name);
    return out;
}
