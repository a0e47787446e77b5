/* SPDX-License-Identifier: MIT */
#include "lib/timefmt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define US_PER_S           1000000LL
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

/* Floor division, so that instants before 1970 format too. */
static void split(int64_t us, struct tm *tm, int *ms)
{
    int64_t s = us / US_PER_S, rest = us % US_PER_S;
    if (rest < 0) {
        rest += US_PER_S;
        s--;
    }
    time_t t = (time_t)s;
    gmtime_r(&t, tm);
    *ms = (int)(rest / 1000);
}

void timefmt_seconds(int64_t us, char out[TIMEFMT_SIZE])
{
    struct tm tm;
    int ms;
    split(us, &tm, &ms);
    strftime(out, TIMEFMT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

void timefmt_fixed(int64_t us, char out[TIMEFMT_SIZE])
{
    struct tm tm;
    int ms;
    split(us, &tm, &ms);
    size_t n = strftime(out, TIMEFMT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, TIMEFMT_SIZE - n, ".%03dZ", ms);
}

void timefmt_wire(int64_t us, char out[TIMEFMT_SIZE])
{
    timefmt_fixed(us, out);
    char *z = out + strlen(out) - 1;
    while (z[-1] == '0' && z[-2] != '.')
        z--;
    if (z[-1] == '0' && z[-2] == '.')
        z -= 2;
    z[0] = 'Z';
    z[1] = '\0';
}

void timefmt_http(int64_t us, char out[TIMEFMT_SIZE])
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm tm;
    int ms;
    split(us, &tm, &ms);
    snprintf(out, TIMEFMT_SIZE, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[tm.tm_wday % 7],
             tm.tm_mday % 100, months[tm.tm_mon % 12], (tm.tm_year + 1900) % 10000,
             tm.tm_hour % 100, tm.tm_min % 100, tm.tm_sec % 100);
}

void timefmt_basic(int64_t us, int lower, char out[TIMEFMT_SIZE])
{
    struct tm tm;
    int ms;
    split(us, &tm, &ms);
    strftime(out, TIMEFMT_SIZE, lower ? "%Y%m%dt%H%M%Sz" : "%Y%m%dT%H%M%SZ", &tm);
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

int timefmt_parse(const char *s, int64_t *us)
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
    if (strcmp(rest, "Z") != 0)
        return -1;
    *us = (int64_t)timegm(&tm) * US_PER_S + frac;
    return 0;
}
