/* SPDX-License-Identifier: MIT
 *
 * All functions use the Gregorian calendar in UTC, without the C library's time zones or locks,
 * because a reply may list thousands of rows with several instants in each row. The functions write
 * texts into the caller's array.
 */
#include "lib/timefmt.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define US_PER_S           1000000LL
#define S_PER_DAY          86400LL
#define TICKS_0001_TO_1970 621355968000000000LL
#define TICKS_PER_US       10LL

/* 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
#define FIRST_SECOND (-TICKS_0001_TO_1970 / TICKS_PER_US / US_PER_S)
#define LAST_SECOND  253402300799LL

static int64_t system_now(void *ctx)
{
    (void)ctx;
    return time_now_us();
}

int64_t time_now_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * US_PER_S + ts.tv_nsec / 1000;
}

struct clock clock_system(void)
{
    return (struct clock){system_now, NULL};
}

int64_t clock_now(const struct clock *c)
{
    return c->now_us(c->ctx);
}

/* An instant in UTC. */
struct civil {
    int year, month, day, weekday;    /* January is 1; Sunday 0 */
    int hour, minute, second, ms, us; /* ms and us: both of the present second */
};

/* Converts days since 1970 to a date of the Gregorian calendar, counted in eras of 400 years whose
 * years begin in March, so that the leap day is the last day of a year (Hinnant, "chrono-compatible
 * low-level date algorithms"). Every reply contains several instants, and this takes a tenth of the
 * time of gmtime_r(). */
static void set_date(struct civil *c, int64_t days)
{
    enum { ERA_DAYS = 146097, TO_1970 = 719468, CENTURY_DAYS = 36524, FOUR_YEARS_DAYS = 1460 };
    int64_t z = days + TO_1970;
    assert(z >= 0); /* FIRST_SECOND is in March of year 0 or later */
    int64_t era = z / ERA_DAYS;
    int of_era = (int)(z - era * ERA_DAYS);
    int year =
        (of_era - of_era / FOUR_YEARS_DAYS + of_era / CENTURY_DAYS - of_era / (ERA_DAYS - 1)) / 365;
    int of_year = of_era - (365 * year + year / 4 - year / 100);
    int month = (5 * of_year + 2) / 153; /* March is 0 */
    c->day = of_year - (153 * month + 2) / 5 + 1;
    c->month = month < 10 ? month + 3 : month - 9;
    c->year = (int)(era * 400) + year + (c->month <= 2);
    c->weekday = (int)((z + 3) % 7); /* the first of March of year 0 was a Wednesday */
    assert(c->day >= 1 && c->day <= 31 && c->month >= 1 && c->month <= 12);
}

/* An instant before year 1 becomes the first second of year 1; an instant after year 9999 becomes
 * the last second of that year. */
static struct civil civil_of(int64_t us)
{
    struct civil c;
    int64_t s = us / US_PER_S, rest = us % US_PER_S;
    if (rest < 0) {
        rest += US_PER_S;
        s--;
    }
    s = s < FIRST_SECOND ? FIRST_SECOND : s > LAST_SECOND ? LAST_SECOND : s;
    int64_t days = (s - FIRST_SECOND) / S_PER_DAY + FIRST_SECOND / S_PER_DAY;
    int of_day = (int)(s - days * S_PER_DAY);
    set_date(&c, days);
    c.hour = of_day / 3600;
    c.minute = of_day / 60 % 60;
    c.second = of_day % 60;
    c.ms = (int)(rest / 1000);
    c.us = (int)rest;
    return c;
}

/* Writes the last `n` digits of v, followed by `after` (0: nothing). */
static char *put(char *out, int v, int n, char after)
{
    for (int i = n - 1; i >= 0; i--, v /= 10)
        out[i] = (char)('0' + v % 10);
    out[n] = after;
    return out + n + (after != 0);
}

static char *put_date(char *out, const struct civil *c, char between, char after)
{
    out = put(out, c->year, 4, between);
    out = put(out, c->month, 2, between);
    return put(out, c->day, 2, after);
}

static char *put_time(char *out, const struct civil *c, char between, char after)
{
    out = put(out, c->hour, 2, between);
    out = put(out, c->minute, 2, between);
    return put(out, c->second, 2, after);
}

void timefmt_seconds(int64_t us, char out[TIMEFMT_SIZE])
{
    const struct civil c = civil_of(us);
    *put_time(put_date(out, &c, '-', 'T'), &c, ':', 'Z') = '\0';
}

void timefmt_fixed(int64_t us, char out[TIMEFMT_SIZE])
{
    const struct civil c = civil_of(us);
    char *ms = put_time(put_date(out, &c, '-', 'T'), &c, ':', '.');
    *put(ms, c.ms, 3, 'Z') = '\0';
}

/* Writes the date and the time with `fraction`, the n digits of the second's fraction, without
 * their trailing zeros. */
static void put_trimmed(const struct civil *c, int fraction, int n, char *out)
{
    char *end = put_time(put_date(out, c, '-', 'T'), c, ':', 0);
    if (fraction > 0) {
        *end++ = '.';
        end = put(end, fraction, n, 0);
        while (end[-1] == '0')
            end--;
    }
    end[0] = 'Z';
    end[1] = '\0';
}

void timefmt_wire(int64_t us, char out[TIMEFMT_SIZE])
{
    const struct civil c = civil_of(us);
    put_trimmed(&c, c.ms, 3, out);
}

void timefmt_exact(int64_t us, char out[TIMEFMT_SIZE])
{
    const struct civil c = civil_of(us);
    put_trimmed(&c, c.us, 6, out);
}

void timefmt_http(int64_t us, char out[TIMEFMT_SIZE])
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const struct civil c = civil_of(us);
    memcpy(out, days + (size_t)c.weekday * 3, 3);
    out[3] = ',';
    out[4] = ' ';
    char *at = put(out + 5, c.day, 2, ' ');
    memcpy(at, months + (size_t)(c.month - 1) * 3, 3);
    at[3] = ' ';
    at = put_time(put(at + 4, c.year, 4, ' '), &c, ':', ' ');
    memcpy(at, "GMT", sizeof "GMT");
}

void timefmt_basic(int64_t us, int lower, char out[TIMEFMT_SIZE])
{
    const struct civil c = civil_of(us);
    char *time = put_date(out, &c, 0, lower ? 't' : 'T');
    *put_time(time, &c, 0, lower ? 'z' : 'Z') = '\0';
}

int64_t time_from_file(int64_t seconds, long nanoseconds)
{
    if (seconds < FIRST_SECOND)
        return FIRST_SECOND * US_PER_S;
    if (seconds > LAST_SECOND)
        return LAST_SECOND * US_PER_S;
    return seconds * US_PER_S + nanoseconds / 1000;
}

int64_t time_to_ticks(int64_t us)
{
    return TICKS_0001_TO_1970 + us * TICKS_PER_US;
}

/* Parses the text up to its time zone; *zone then points to the zone. */
static int parse_local(const char *s, int64_t *us, const char **zone)
{
    struct tm tm = {0};
    const char *rest = strptime(s, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!rest)
        return -1;
    int64_t frac = 0;
    if (*rest == '.') {
        int64_t unit = US_PER_S / 10;
        for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
            frac += (*rest - '0') * unit;
    }
    *zone = rest;
    *us = (int64_t)timegm(&tm) * US_PER_S + frac;
    return 0;
}

int timefmt_parse(const char *s, int64_t *us)
{
    const char *zone;
    int64_t local;
    if (parse_local(s, &local, &zone) < 0 || strcmp(zone, "Z") != 0)
        return -1;
    *us = local;
    return 0;
}

int timefmt_parse_offset(const char *s, int64_t *us)
{
    const char *zone;
    struct tm tm = {0};
    int64_t local;
    if (parse_local(s, &local, &zone) < 0)
        return -1;
    bool offset = *zone == '+' || *zone == '-';
    const char *end = offset ? strptime(zone + 1, "%H:%M", &tm) : NULL;
    if (strcmp(zone, "Z") != 0 && (!end || *end))
        return -1;
    int64_t ahead = (tm.tm_hour * 60 + tm.tm_min) * 60 * US_PER_S;
    *us = *zone == '-' ? local + ahead : local - ahead;
    return 0;
}
