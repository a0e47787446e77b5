/* SPDX-License-Identifier: MIT
 *
 * The requests that are kept.
 */
#include <stdlib.h>

#include "api/testing/log.h"
#include "lib/timefmt.h"

struct testing_log *testing_log_create(uv_loop_t *loop)
{
    struct testing_log *log = xcalloc(1, sizeof *log);
    log->loop = loop;
    log->ring = xcalloc(SEEN_MAX, sizeof *log->ring);
    log->unknown = xcalloc(UNKNOWN_MAX, sizeof *log->unknown);
    return log;
}

static void seen_clear(struct seen *s)
{
    free(s->method);
    free(s->target);
    free(s->operation);
    free(s->service);
    free(s->subscription);
    free(s->by);
    free(s->asked);
    free(s->answered);
    *s = (struct seen){0};
}

struct seen *seen_at(const struct testing_log *log, size_t i)
{
    return &log->ring[(log->first + i) % SEEN_MAX];
}

void seen_drop_oldest(struct testing_log *log)
{
    struct seen *s = seen_at(log, 0);
    log->bytes -= s->bytes;
    seen_clear(s);
    log->first = (log->first + 1) % SEEN_MAX;
    log->n--;
}

void testing_log_free(struct testing_log *log)
{
    if (!log)
        return;
    while (log->n > 0)
        seen_drop_oldest(log);
    for (size_t i = 0; i < log->n_unknown; i++) {
        free(log->unknown[i].method);
        free(log->unknown[i].target);
    }
    free(log->unknown);
    free(log->ring);
    free(log);
}

/* --- what is shown ---------------------------------------------------------------------------- */

struct told told_seen(const struct seen *s)
{
    return (struct told){.method = s->method,
                         .operation = s->operation,
                         .path = s->target,
                         .subscription = s->subscription,
                         .status = s->status};
}

json_t *seen_render(const struct seen *s)
{
    char time[TIMEFMT_SIZE];
    timefmt_wire(s->time_us, time);
    json_t *o =
        json_pack("{s:I, s:s, s:f, s:s, s:s, s:s*, s:s*, s:s*, s:s*, s:i, s:o*, s:o*}", "number",
                  (json_int_t)s->number, "time", time, "milliseconds", (double)s->took_us / 1000,
                  "method", s->method, "path", s->target, "operation", s->operation, "service",
                  s->service, "subscription", s->subscription, "by", s->by, "status", s->status,
                  "request", s->asked ? json_loads(s->asked, JSON_DECODE_ANY, NULL) : NULL, "reply",
                  s->answered ? json_loads(s->answered, JSON_DECODE_ANY, NULL) : NULL);
    if (s->fault != 0)
        json_object_set_new(o, "fault", json_integer(s->fault));
    return o;
}

json_t *seen_fitting(const struct testing_log *log, const struct selector *match, int64_t after,
                     size_t max)
{
    json_t *out = json_array();
    for (size_t i = 0; i < log->n && json_array_size(out) < max; i++) {
        const struct seen *s = seen_at(log, i);
        const struct told told = told_seen(s);
        if (s->number > after && selector_fits(match, &told))
            json_array_append_new(out, seen_render(s));
    }
    return out;
}
