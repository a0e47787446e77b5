/* SPDX-License-Identifier: MIT
 *
 * Times in the formats of the real service. Instants are int64_t microseconds since
 * 1970-01-01T00:00:00Z.
 */
#ifndef LIB_TIMEFMT_H
#define LIB_TIMEFMT_H

#include <stdint.h>

#define TIMEFMT_SIZE 40

/* A clock is a parameter, so that tests can use their own. */
struct clock {
    int64_t (*now_us)(void *ctx);
    void *ctx; /* borrowed */
};

int64_t time_now_us(void);       /* CLOCK_REALTIME */
struct clock clock_system(void); /* a clock that reads time_now_us() */
int64_t clock_now(const struct clock *c);

/* yyyy-MM-ddTHH:mm:ss[.f{1,3}]Z, milliseconds without trailing zeros, as in the real service. */
void timefmt_wire(int64_t us, char out[TIMEFMT_SIZE]);
/* yyyy-MM-ddTHH:mm:ss[.f{1,6}]Z, exact to the microsecond */
void timefmt_exact(int64_t us, char out[TIMEFMT_SIZE]);
/* yyyy-MM-ddTHH:mm:ss.fffZ */
void timefmt_fixed(int64_t us, char out[TIMEFMT_SIZE]);
/* yyyy-MM-ddTHH:mm:ssZ */
void timefmt_seconds(int64_t us, char out[TIMEFMT_SIZE]);
/* RFC 7231 date: Thu, 07 Jun 2018 21:34:00 GMT */
void timefmt_http(int64_t us, char out[TIMEFMT_SIZE]);
/* yyyymmddThhmmssZ (x-ms-routing-request-id); lower: yyyymmddthhmmssz (node ids) */
void timefmt_basic(int64_t us, int lower, char out[TIMEFMT_SIZE]);
/* .NET ticks: 100 ns since 0001-01-01, as in the real service's ETags. */
int64_t time_to_ticks(int64_t us);
/* Converts a file system's instant, clamped to the years 1 to 9999. */
int64_t time_from_file(int64_t seconds, long nanoseconds);
/* Parses yyyy-MM-ddTHH:mm:ss[.fff]Z. Returns 0, or -1 for another format. */
int timefmt_parse(const char *s, int64_t *us);
/* Like timefmt_parse(), but also takes an offset in the place of Z: +02:00. */
int timefmt_parse_offset(const char *s, int64_t *us);

#endif
