/* SPDX-License-Identifier: MIT
 *
 * Requests that show, stop, scale and advance the daemon's clock. The reply to a request that
 * advances the clock is sent when everything that is due up to the new time has happened.
 */
#include "api/testing/clock.h"
#include "api/http/accept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/testing/errors.h"
#include "api/testing/routes.h"
#include "api/testing/testing.h"
#include "lib/loop_virtual.h"
#include "lib/timefmt.h"
#include "model/schema_rows.h"
#include "model/span.h"

/* The largest single advance of the clock. It is limited, because nodes and autoscaling have timers
 * of seconds and minutes, each of which is carried out during the advance. */
#define AHEAD_MAX_DAYS 366
#define DAY_US         (INT64_C(24) * 3600 * 1000000)

struct testing_clock {
    struct loop_virtual *time; /* owned */
    struct request *waiting;   /* the request that advances the clock; NULL: none, or its client has
                                  disconnected */
};

struct testing_clock *testing_clock_create(struct loop_virtual *time)
{
    struct testing_clock *c = xcalloc(1, sizeof *c);
    c->time = time;
    return c;
}

void testing_clock_free(struct testing_clock *c)
{
    if (c)
        loop_virtual_free(c->time);
    free(c);
}

void testing_clock_halt(struct testing_clock *c)
{
    if (c)
        loop_virtual_halt(c->time);
}

/* --- how it stands -----------------------------------------------------------------------------
 */

static struct loop *loop_of(const struct testing_clock *c)
{
    return loop_virtual_loop(c->time);
}

static json_t *instant(int64_t us)
{
    char text[TIMEFMT_SIZE];
    timefmt_exact(us, text);
    return json_string(text);
}

static json_t *render(const struct testing_clock *c)
{
    struct loop_virtual_state s;
    loop_virtual_look(c->time, &s);
    int64_t now_us = loop_wall_us(loop_of(c)), mono_us = loop_mono_us(loop_of(c));
    int64_t ahead_us = s.touched ? now_us - time_now_us() : 0;
    char ahead[SPAN_SIZE];
    span_text(ahead_us > 0 ? ahead_us : 0, ahead);
    json_t *o = json_pack("{s:o, s:b, s:b, s:f, s:s}", "time", instant(now_us), "real", !s.touched,
                          "walking", s.walking, "rate", s.rate, "ahead", ahead);
    if (s.has_next)
        json_object_set_new(o, "nextDue", instant(now_us + (s.next_us - mono_us)));
    return o;
}

struct replied *clock_show(struct request *r)
{
    return reply_json(r, 200, render(testing_of(r)->clock));
}

/* --- changing it -------------------------------------------------------------------------------
 */

/* The change of the clock that a request asks for. */
struct clock_change {
    bool follow;
    double rate;         /* below 0: the rate stays as it is */
    const char *advance; /* NULL: do not advance by a duration */
    int64_t advance_to;  /* wall time; INT64_MIN: do not advance to a time */
    bool walks;
    int64_t to_us; /* monotonic time */
};

#define SPAN_RIGHT "a duration of ISO 8601, such as PT6H, or next"

static const struct field change_rows[] = {
    REAL("rate", .max = (long)LOOP_RATE_MAX,
         .expected = "a number from 0 (stopped) to 1000000; 1 is real speed",
         INTO(clock_change, rate)),
    TEXT("advance", .expected = SPAN_RIGHT, INTO(clock_change, advance)),
    TIME("advanceTo", INTO(clock_change, advance_to)),
    BOOL("real", INTO(clock_change, follow)),
};
static SCHEMA(change_body, change_rows, "Clock", FILLS(clock_change));

static int refuse(struct err *e, const char *name, const char *what)
{
    return err_set(e, ERR_INVALID_PROPERTY, name, "%s %s", name, what);
}

static int walk_to(struct testing_clock *c, const char *name, int64_t left_us,
                   struct clock_change *out, struct err *e)
{
    if (left_us < 0)
        return refuse(e, name,
                      "is in the past; the clock can only go forward (\"real\": true returns to "
                      "the machine's clock).");
    if (left_us > AHEAD_MAX_DAYS * DAY_US)
        return refuse(e, name, "is more than 366 days ahead.");
    out->walks = true;
    out->to_us = loop_mono_us(loop_of(c)) + left_us;
    return 0;
}

static int read_advance(struct testing_clock *c, struct clock_change *out, struct err *e)
{
    const char *text = out->advance;
    struct loop_virtual_state s;
    int64_t span_us;
    loop_virtual_look(c->time, &s);
    if (strcmp(text, "next") == 0) {
        int64_t left_us = s.next_us - loop_mono_us(loop_of(c));
        return s.has_next ? walk_to(c, "advance", left_us > 0 ? left_us : 0, out, e)
                          : refuse(e, "advance", "is next, but no timer is due.");
    }
    if (span_parse(text, &span_us) < 0)
        return err_set(e, ERR_INVALID_PROPERTY, "advance",
                       "advance is '%.60s'; it must be " SPAN_RIGHT ".", text);
    return walk_to(c, "advance", span_us, out, e);
}

static int read_body(struct request *r, struct clock_change *out, struct err *e)
{
    struct testing_clock *c = testing_of(r)->clock;
    *out = (struct clock_change){.rate = -1, .advance_to = INT64_MIN};
    if (request_read_body(r, &change_body, out, e) < 0)
        return -1;
    const bool rated = out->rate >= 0, to = out->advance_to != INT64_MIN;
    if (out->advance && to)
        return refuse(e, "advanceTo", "cannot be combined with advance.");
    if (out->follow && (rated || out->advance || to))
        return refuse(e, "real", "stands alone.");
    if (!out->follow && !rated && !out->advance && !to)
        return err_set(e, ERR_MISSING_PROPERTY, "advance",
                       "Nothing is asked for: rate, advance, advanceTo or real.");
    if (out->advance)
        return read_advance(c, out, e);
    return to ? walk_to(c, "advanceTo", out->advance_to - loop_wall_us(loop_of(c)), out, e) : 0;
}

static void on_walked(void *ctx, const struct loop_walked *how)
{
    struct testing_clock *c = ctx;
    struct request *r = c->waiting;
    struct err e;
    c->waiting = NULL;
    if (!r)
        return;
    request_release(r);
    if (!how->arrived) {
        err_set(&e, TESTING_RESTLESS, NULL,
                "The clock stopped before its goal: some work did not complete.");
        request_finish(r, reply_err(r, &e));
        return;
    }
    json_t *o = render(c);
    json_object_set_new(o, "walking", json_false());
    json_object_set_new(o, "timers", json_integer((json_int_t)how->timers));
    request_finish(r, reply_json(r, 200, o));
}

/* The client has disconnected, or has its reply; the clock continues to advance. */
static void release(void *kept)
{
    struct testing_clock *c = kept;
    c->waiting = NULL;
}

struct replied *clock_change(struct request *r)
{
    struct err e;
    struct clock_change x;
    struct loop_virtual_state s;
    struct testing_clock *c = testing_of(r)->clock;
    loop_virtual_look(c->time, &s);
    int rc = read_body(r, &x, &e);
    if (rc == 0 && s.walking)
        rc = err_set(&e, ERR_CONFLICT, NULL, "The clock is being taken forward already.");
    if (rc < 0)
        return reply_err(r, &e);
    if (x.follow)
        loop_virtual_follow(c->time);
    if (x.rate >= 0)
        loop_virtual_set_rate(c->time, x.rate);
    LOG_INFO(r->config->log, "testing.clock_changed",
             LF_STR("follows_system_clock", x.follow ? "true" : "false"),
             LF_INT("advance_us", x.walks ? x.to_us - loop_mono_us(loop_of(c)) : 0));
    if (!x.walks)
        return reply_json(r, 200, render(c));
    c->waiting = r;
    request_keep(r, c, release);
    loop_virtual_walk(c->time, x.to_us, on_walked, c);
    return reply_later(r);
}
