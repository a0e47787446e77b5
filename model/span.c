/* SPDX-License-Identifier: MIT
 *
 * The parser of both kinds of durations: those of .NET, and durations without years and months
 * (duration_parse() of model/spec.h).
 */
#include "model/span.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/spec.h"

#define SECOND_US INT64_C(1000000)
#define DAY_US    (24 * 3600 * SECOND_US)
#define INFINITE  "P10675199DT2H48M5.4775807S"

/* The units, from the largest to the smallest. */
static const struct span_unit {
    char letter;
    bool in_time; /* after the "T" */
    int64_t us;
} units[] = {
    {'Y', false, 365 * DAY_US}, {'M', false, 30 * DAY_US},     {'W', false, 7 * DAY_US},
    {'D', false, DAY_US},       {'H', true, 3600 * SECOND_US}, {'M', true, 60 * SECOND_US},
    {'S', true, SECOND_US},
};
enum { N_UNITS = sizeof units / sizeof units[0], OF_FIXED_LENGTH = 2 /* weeks and smaller */ };

/* The allowed syntax of a text. */
struct span_rule {
    int first;          /* the index of the largest allowed unit */
    const char *points; /* characters that begin a fraction */
    int digits;         /* the most digits of a fraction */
};

/* Returns the index of the unit with this letter, from the index `done` on; -1: there is none, or
 * units are not in order. */
static int find_unit(char letter, bool in_time, int done)
{
    for (int i = done; i < N_UNITS; i++)
        if (units[i].letter == letter && units[i].in_time == in_time)
            return i;
    return -1;
}

/* Reads a number, perhaps with a fraction, and moves *s past it. -1: there is no valid number. */
static int read_number(const struct span_rule *r, const char **s, int64_t *whole,
                       int64_t *fraction_us)
{
    const char *start = *s;
    *whole = *fraction_us = 0;
    for (; **s >= '0' && **s <= '9'; (*s)++)
        if (__builtin_mul_overflow(*whole, 10, whole) ||
            __builtin_add_overflow(*whole, **s - '0', whole))
            return -1;
    if (*s == start)
        return -1;
    if (**s == '\0' || !strchr(r->points, **s))
        return 0;
    start = ++*s;
    for (int64_t unit = SECOND_US / 10; **s >= '0' && **s <= '9'; (*s)++, unit /= 10)
        *fraction_us += (**s - '0') * unit;
    return *s == start || *s - start > r->digits || **s != 'S' ? -1 : 0;
}

static int parse(const struct span_rule *r, const char *text, int64_t *us)
{
    const char *s = text;
    int64_t total = 0;
    int done = r->first, parts = 0;
    bool in_time = false;
    if (*s++ != 'P')
        return -1;
    while (*s) {
        if (*s == 'T' && !in_time) {
            in_time = true;
            s++;
        }
        int64_t n, fraction;
        if (read_number(r, &s, &n, &fraction) < 0)
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
    *us = total;
    return 0;
}

int span_parse(const char *text, int64_t *us)
{
    static const struct span_rule rule = {0, ".", INT_MAX};
    int64_t total;
    if (parse(&rule, text, &total) < 0 || total > SPAN_INFINITE_US)
        return -1;
    *us = total;
    return 0;
}

int duration_parse(const char *text, int64_t *us)
{
    static const struct span_rule rule = {OF_FIXED_LENGTH, ".,", 6};
    int64_t total;
    if (parse(&rule, text, &total) < 0)
        return -1;
    *us = total < DURATION_MAX_US ? total : DURATION_MAX_US;
    return 0;
}

/* Writes a number and a letter ("4H"), or an empty text for 0. */
static void part(int64_t n, char letter, char out[SPAN_SIZE])
{
    out[0] = '\0';
    if (n > 0)
        snprintf(out, SPAN_SIZE, "%lld%c", (long long)n, letter);
}

/* Writes seconds with their fraction: "5.25S". */
static void seconds_text(int64_t seconds, int64_t fraction_us, char out[SPAN_SIZE])
{
    int n = snprintf(out, SPAN_SIZE, "%lld.%06lld", (long long)seconds, (long long)fraction_us);
    while (out[n - 1] == '0')
        n--;
    n -= out[n - 1] == '.';
    out[n] = 'S';
    out[n + 1] = '\0';
}

void span_text(int64_t us, char out[SPAN_SIZE])
{
    char d[SPAN_SIZE], h[SPAN_SIZE], m[SPAN_SIZE], s[SPAN_SIZE] = "";
    int64_t rest = us % DAY_US, second = rest / SECOND_US % 60;
    if (us >= SPAN_INFINITE_US) {
        snprintf(out, SPAN_SIZE, "%s", INFINITE);
        return;
    }
    part(us / DAY_US, 'D', d);
    part(rest / (3600 * SECOND_US), 'H', h);
    part(rest / (60 * SECOND_US) % 60, 'M', m);
    if (second > 0 || rest % SECOND_US > 0 || us == 0)
        seconds_text(second, rest % SECOND_US, s);
    snprintf(out, SPAN_SIZE, "P%.10s%s%.3s%.3s%.10s", d, rest > 0 || us == 0 ? "T" : "", h, m, s);
}
