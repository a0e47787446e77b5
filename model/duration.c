/* SPDX-License-Identifier: MIT
 *
 * ISO 8601 durations of fixed length: P7D, P1DT2H3M4S, PT0.5S, P2W. Months and years are refused,
 * as their length depends on when they start.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "model/spec.h"

#define SECOND_US 1000000LL

static const struct unit {
    char letter;
    bool in_time; /* after the "T" */
    int64_t us;
} units[] = {
    {'W', false, 7 * 24 * 3600 * SECOND_US},
    {'D', false, 24 * 3600 * SECOND_US},
    {'H', true, 3600 * SECOND_US},
    {'M', true, 60 * SECOND_US},
    {'S', true, SECOND_US},
};
enum { N_UNITS = sizeof units / sizeof units[0] };

/* The unit of a letter. It must come after the `done` units already seen: each once, from large to
 * small. */
static int find_unit(char letter, bool in_time, int done)
{
    for (int i = done; i < N_UNITS; i++)
        if (units[i].letter == letter && units[i].in_time == in_time)
            return i;
    return -1;
}

/* Digits and, for seconds, a fraction of up to six digits. Moves *s past them. */
static int parse_number(const char **s, int64_t *whole, int64_t *fraction_us)
{
    const char *start = *s;
    *whole = *fraction_us = 0;
    for (; **s >= '0' && **s <= '9'; (*s)++)
        if (__builtin_mul_overflow(*whole, 10, whole) ||
            __builtin_add_overflow(*whole, **s - '0', whole))
            return -1;
    if (*s == start)
        return -1;
    if (**s != '.' && **s != ',')
        return 0;
    start = ++*s;
    for (int64_t unit = SECOND_US / 10; **s >= '0' && **s <= '9'; (*s)++, unit /= 10)
        *fraction_us += (**s - '0') * unit;
    return *s == start || *s - start > 6 || **s != 'S' ? -1 : 0;
}

int duration_parse(const char *text, int64_t *us)
{
    const char *s = text;
    int64_t total = 0;
    int done = 0, parts = 0;
    bool in_time = false;
    if (*s++ != 'P')
        return -1;
    while (*s) {
        if (*s == 'T' && !in_time && s[1]) {
            in_time = true;
            s++;
        }
        int64_t n, fraction;
        if (parse_number(&s, &n, &fraction) < 0)
            return -1;
        int unit = find_unit(*s++, in_time, done);
        if (unit < 0 || __builtin_mul_overflow(n, units[unit].us, &n) ||
            __builtin_add_overflow(total, n, &total) ||
            __builtin_add_overflow(total, fraction, &total))
            return -1;
        done = unit + 1;
        parts++;
    }
    if (parts == 0)
        return -1;
    *us = total < DURATION_MAX_US ? total : DURATION_MAX_US;
    return 0;
}
