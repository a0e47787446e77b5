/* SPDX-License-Identifier: MIT
 *
 * Instants: the argument of time("..."), and the members of timestamps.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scheduler/formula/formula_priv.h"

/* Reads n digits at *p as a number; -1: there are fewer digits. */
static int digits(const char **p, int n)
{
    int number = 0;
    for (int i = 0; i < n; i++, (*p)++) {
        if (!isdigit((unsigned char)**p))
            return -1;
        number = number * 10 + (**p - '0');
    }
    return number;
}

/* Reads `sign` and two digits, if the sign is at *p. -1: two digits do not follow the sign. */
static int pair(const char **p, char sign, int otherwise, bool *there)
{
    *there = **p == sign;
    if (!*there)
        return otherwise;
    (*p)++;
    return digits(p, 2);
}

/* Reads ".fff" as ticks; digits for less than a tick are dropped. */
static int fraction(const char **p, int64_t *ticks)
{
    *ticks = 0;
    if (**p != '.')
        return 0;
    if (!isdigit((unsigned char)*++*p))
        return -1;
    for (int64_t unit = TICKS_PER_SECOND / 10; isdigit((unsigned char)**p); (*p)++, unit /= 10)
        *ticks += (**p - '0') * unit;
    return 0;
}

/* Reads Z, +hh:mm or -hh:mm; without a zone the time is UTC. */
static int zone(const char **p, int64_t *seconds)
{
    *seconds = 0;
    if (**p == 'Z' || **p == 'z') {
        (*p)++;
        return 0;
    }
    if (**p != '+' && **p != '-')
        return 0;
    int sign = *(*p)++ == '-' ? -1 : 1;
    int hours = digits(p, 2);
    if (hours < 0 || hours > 23 || *(*p)++ != ':')
        return -1;
    int minutes = digits(p, 2);
    if (minutes < 0 || minutes > 59)
        return -1;
    *seconds = sign * (hours * 3600 + minutes * 60);
    return 0;
}

/* Converts a date and time to seconds since 1970, if it is valid. */
static int seconds_of(struct tm tm, int64_t *out)
{
    struct tm same = tm;
    time_t t = timegm(&same);
    if (same.tm_mon != tm.tm_mon || same.tm_mday != tm.tm_mday || same.tm_hour != tm.tm_hour ||
        same.tm_min != tm.tm_min || same.tm_sec != tm.tm_sec || tm.tm_year < -1899)
        return -1;
    *out = t;
    return 0;
}

/* YYYY[-MM[-DD[Thh:mm[:ss[.f...]][ZONE]]]] */
static int parse_w3c(const char *p, int64_t *ticks)
{
    struct tm tm = {.tm_year = digits(&p, 4) - 1900, .tm_mday = 1};
    bool month, day, time, second;
    int64_t parts = 0, off = 0, seconds;
    tm.tm_mon = pair(&p, '-', 1, &month) - 1;
    tm.tm_mday = month ? pair(&p, '-', 1, &day) : 1;
    tm.tm_hour = month && day ? pair(&p, 'T', 0, &time) : 0;
    if (month && day && time) {
        bool minute;
        tm.tm_min = pair(&p, ':', -1, &minute);
        tm.tm_sec = pair(&p, ':', 0, &second);
        if ((second && fraction(&p, &parts) < 0) || zone(&p, &off) < 0)
            return -1;
    }
    if (*p || tm.tm_min < 0 || tm.tm_sec < 0 || tm.tm_hour < 0 || seconds_of(tm, &seconds) < 0)
        return -1;
    *ticks = (seconds - off) * TICKS_PER_SECOND + parts;
    return 0;
}

static int month_named(const char *name)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int m = 0; m < 12; m++)
        if (strncmp(name, names + (ptrdiff_t)3 * m, 3) == 0)
            return m;
    return -1;
}

/* Moves *p past `text`, if *p begins with it. */
static int past(const char **p, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(*p, text, n) != 0)
        return -1;
    *p += n;
    return 0;
}

/* "Thu, 07 Jun 2018 21:34:00 GMT"; the day of the week is not checked, the day of the month may be
 * one digit. */
static int parse_rfc1123(const char *p, int64_t *ticks)
{
    struct tm tm = {0};
    int64_t seconds;
    if (strspn(p, "SunMoTueWdhFriat") != 3)
        return -1;
    p += 3;
    if (past(&p, ", ") < 0)
        return -1;
    tm.tm_mday = digits(&p, isdigit((unsigned char)*p) && p[1] == ' ' ? 1 : 2);
    if (past(&p, " ") < 0 || (tm.tm_mon = month_named(p)) < 0)
        return -1;
    p += 3;
    if (past(&p, " ") < 0)
        return -1;
    tm.tm_year = digits(&p, 4) - 1900;
    if (past(&p, " ") < 0)
        return -1;
    tm.tm_hour = digits(&p, 2);
    tm.tm_min = past(&p, ":") < 0 ? -1 : digits(&p, 2);
    tm.tm_sec = past(&p, ":") < 0 ? -1 : digits(&p, 2);
    if (past(&p, " GMT") < 0 || *p || seconds_of(tm, &seconds) < 0)
        return -1;
    *ticks = seconds * TICKS_PER_SECOND;
    return 0;
}

int instant_parse(const char *text, int64_t *ticks)
{
    return parse_w3c(text, ticks) == 0 ? 0 : parse_rfc1123(text, ticks);
}

int timestamp_member(struct formula_run *r, const struct formula_node *n,
                     const struct formula_value *of, struct formula_value *out)
{
    if (of->kind != VALUE_TIMESTAMP)
        return run_fail(r, n->at, "A %s has no member %.60s", value_kind_name(of->kind), n->name);
    time_t t = of->ticks / TICKS_PER_SECOND - (of->ticks % TICKS_PER_SECOND < 0);
    struct tm tm;
    gmtime_r(&t, &tm);
    const struct {
        const char *name;
        int value;
    } members[] = {
        {"year", tm.tm_year + 1900}, {"month", tm.tm_mon + 1}, {"day", tm.tm_mday},
        {"weekday", tm.tm_wday}, /* from 0, Sunday, as in .NET */
        {"hour", tm.tm_hour},        {"minute", tm.tm_min},    {"second", tm.tm_sec},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(n->name, members[i].name) == 0) {
            *out = value_number(members[i].value);
            return 0;
        }
    return run_fail(r, n->at, "A timestamp has no member %.60s", n->name);
}
