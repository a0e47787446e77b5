/* SPDX-License-Identifier: MIT
 *
 * Time as the service wrote it.
 */
#include <time.h>

#include "lib/timefmt.h"
#include "test/unit/support/tests.h"

#define JUNE_2018 1528407240000000LL /* 2018-06-07T21:34:00Z */

TEST(wire)
{
    static const struct {
        int64_t us;
        const char *text;
    } cases[] = {
        {JUNE_2018 + 661000, "2018-06-07T21:34:00.661Z"},
        {JUNE_2018 + 661999, "2018-06-07T21:34:00.661Z"},
        {JUNE_2018 + 660000, "2018-06-07T21:34:00.66Z"},
        {JUNE_2018 + 600000, "2018-06-07T21:34:00.6Z"},
        {JUNE_2018 + 606000, "2018-06-07T21:34:00.606Z"},
        {JUNE_2018 + 6000, "2018-06-07T21:34:00.006Z"},
        {JUNE_2018 + 10000, "2018-06-07T21:34:00.01Z"},
        {JUNE_2018 + 999, "2018-06-07T21:34:00Z"},
        {JUNE_2018, "2018-06-07T21:34:00Z"},
        {0, "1970-01-01T00:00:00Z"},
        {-1000, "1969-12-31T23:59:59.999Z"},
        {951782400000000LL, "2000-02-29T00:00:00Z"},
    };
    char out[TIMEFMT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        timefmt_wire(cases[i].us, out);
        assert_string_equal(out, cases[i].text);
    }
}

TEST(exact)
{
    static const struct {
        int64_t us;
        const char *text;
    } cases[] = {
        {JUNE_2018 + 661999, "2018-06-07T21:34:00.661999Z"},
        {JUNE_2018 + 660000, "2018-06-07T21:34:00.66Z"},
        {JUNE_2018 + 1, "2018-06-07T21:34:00.000001Z"},
        {JUNE_2018, "2018-06-07T21:34:00Z"},
        {-1, "1969-12-31T23:59:59.999999Z"},
    };
    char out[TIMEFMT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        timefmt_exact(cases[i].us, out);
        assert_string_equal(out, cases[i].text);
    }
}

TEST(other_formats)
{
    char out[TIMEFMT_SIZE];
    timefmt_fixed(JUNE_2018 + 600000, out);
    assert_string_equal(out, "2018-06-07T21:34:00.600Z");
    timefmt_fixed(JUNE_2018, out);
    assert_string_equal(out, "2018-06-07T21:34:00.000Z");
    timefmt_seconds(JUNE_2018 + 999999, out);
    assert_string_equal(out, "2018-06-07T21:34:00Z");
    timefmt_http(JUNE_2018 + 999999, out);
    assert_string_equal(out, "Thu, 07 Jun 2018 21:34:00 GMT");
    timefmt_basic(JUNE_2018, 0, out);
    assert_string_equal(out, "20180607T213400Z");
    timefmt_basic(JUNE_2018, 1, out);
    assert_string_equal(out, "20180607t213400z");
}

/* Every day of the calendar from the year 1000 on, as the C library has it, which prints earlier
 * years without their zeros. A tool that looks at memory sees it in each month of some years. */
TEST(each_day)
{
    enum { FIRST_DAY = -354285, LAST_DAY = 2932896, SEVERAL = 97 };
    int step = getenv("BATCHAID_SLOW_TOOL") ? SEVERAL : 1;
    for (int64_t day = FIRST_DAY; day <= LAST_DAY; day += step) {
        time_t at = (time_t)(day * 86400 + (day - FIRST_DAY) * 7919 % 86400);
        struct tm tm;
        char wire[TIMEFMT_SIZE], http[TIMEFMT_SIZE], text[TIMEFMT_SIZE];
        gmtime_r(&at, &tm);
        strftime(wire, sizeof wire, "%Y-%m-%dT%H:%M:%SZ", &tm);
        strftime(http, sizeof http, "%a, %d %b %Y %H:%M:%S GMT", &tm);
        timefmt_wire((int64_t)at * 1000000, text);
        assert_string_equal(text, wire);
        timefmt_http((int64_t)at * 1000000, text);
        assert_string_equal(text, http);
    }
    char text[TIMEFMT_SIZE];
    timefmt_fixed(time_from_file(INT64_MIN, 0) + 86400000000 * 59, text);
    assert_string_equal(text, "0001-03-01T00:00:00.000Z");
}

/* 0x8D5D1A945115287 is an ETag of the service; .NET reads it as this instant, 100 ns finer. */
TEST(ticks)
{
    int64_t tick = 0x8D5D1A945115287LL;
    int64_t us = (tick - time_to_ticks(0)) / 10;
    char out[TIMEFMT_SIZE];
    assert_int_equal(time_to_ticks(us), tick - tick % 10);
    timefmt_seconds(us, out);
    assert_string_equal(out, "2018-06-14T03:45:28Z");
    assert_int_equal(time_to_ticks(0), 621355968000000000LL);
    assert_int_equal(time_to_ticks(1) - time_to_ticks(0), 10);
}

TEST(parsing)
{
    static const struct {
        const char *text;
        int64_t us; /* -1: refused */
    } cases[] = {
        {"2018-06-07T21:34:00Z", JUNE_2018},
        {"2018-06-07T21:34:00.6Z", JUNE_2018 + 600000},
        {"2018-06-07T21:34:00.6612345Z", JUNE_2018 + 661234},
        {"2018-06-07T21:34:00", -1},
        {"2018-06-07", -1},
        {"2018-13-07T21:34:00Z", -1},
        {"2018-06-07T21:34:00Zx", -1},
        {"", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t us = -1;
        int rc = timefmt_parse(cases[i].text, &us);
        if (rc != (cases[i].us < 0 ? -1 : 0) || us != cases[i].us)
            fail_msg("'%s': %d, %lld", cases[i].text, rc, (long long)us);
    }
}

static int64_t fixed(void *ctx)
{
    return *(int64_t *)ctx;
}

TEST(clocks)
{
    int64_t now = 42;
    const struct clock mine = {fixed, &now}, real = clock_system();
    assert_int_equal(clock_now(&mine), 42);
    int64_t before = time_now_us(), between = clock_now(&real), after = time_now_us();
    assert_true(before > JUNE_2018 && before <= between && between <= after);
}

TEST(times_of_files_stay_within_the_calendar)
{
    char text[TIMEFMT_SIZE];
    assert_int_equal(time_from_file(1, 2000), 1000002);
    assert_int_equal(time_from_file(-1, 0), -1000000);
    timefmt_seconds(time_from_file(INT64_MAX, 0), text);
    assert_string_equal(text, "9999-12-31T23:59:59Z");
    assert_int_equal(time_to_ticks(time_from_file(INT64_MIN, 0)), 0);
    assert_true(time_to_ticks(time_from_file(INT64_MAX, 999999999)) > 0);
}
