/* SPDX-License-Identifier: MIT
 *
 * The ring buffer of the requests that the log keeps.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/testing/log.h"
#include "lib/arena.h"
#include "lib/strbuf.h"
#include "lib/timefmt.h"

struct testing_log *testing_log_create(uv_loop_t *loop)
{
    struct testing_log *log = xcalloc(1, sizeof *log);
    log->loop = loop;
    log->ring = xcalloc(SEEN_MAX, sizeof(struct seen *));
    log->kinds = seen_kinds_create();
    return log;
}

/* The place of request `i` in the ring; 0: the oldest. */
static struct seen **place_at(const struct testing_log *log, size_t i)
{
    return &log->ring[(log->first + i) % SEEN_MAX];
}

static const char *text_at(const struct seen *s, unsigned at)
{
    return at != 0 ? s->texts + at : NULL;
}

static size_t bytes_of(const struct seen *s)
{
    const char *last = s->texts + (s->answered ? s->answered : s->asked);
    return sizeof *s + (size_t)(last - s->texts) + strlen(last) + 1;
}

static void drop(struct testing_log *log, struct seen **place)
{
    struct seen *s = *place;
    if (!s)
        return;
    log->bytes -= bytes_of(s) + seen_kind_bytes(s->kind);
    seen_kind_release(log->kinds, s->kind);
    free(s);
    *place = NULL;
}

void seen_drop_oldest(struct testing_log *log)
{
    drop(log, place_at(log, 0));
    log->first = (log->first + 1) % SEEN_MAX;
    log->n--;
}

static bool is_in(const struct seen *s, const char *subscription)
{
    const char *of = s ? s->kind->subscription : NULL;
    return !subscription || (of && strcasecmp(of, subscription) == 0);
}

void seen_drop(struct testing_log *log, const char *subscription)
{
    for (size_t i = 0; i < log->n; i++)
        if (is_in(*place_at(log, i), subscription))
            drop(log, place_at(log, i));
    while (log->n > 0 && !*place_at(log, 0))
        seen_drop_oldest(log);
}

static size_t size_of(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* Appends a text. Returns its offset. */
static unsigned append(struct seen *s, size_t *used, const char *text)
{
    size_t at = *used, size = size_of(text);
    if (!text)
        return 0;
    memcpy(s->texts + at, text, size);
    *used += size;
    return (unsigned)at;
}

void seen_add(struct testing_log *log, const struct seeing *what)
{
    struct seen_kind kind = what->kind;
    size_t path = strcspn(what->target, "?"), used = path + 1;
    struct seen *s = xcalloc(1, sizeof *s + used + size_of(what->asked) + size_of(what->answered));
    kind.query = what->target + path;
    s->kind = seen_kind_take(log->kinds, &kind);
    s->time_us = what->time_us;
    s->took_us = what->took_us;
    s->status = (short)what->status;
    memcpy(s->texts, what->target, path);
    s->asked = append(s, &used, what->asked);
    s->answered = append(s, &used, what->answered);
    if (log->n == SEEN_MAX)
        seen_drop_oldest(log);
    *place_at(log, log->n++) = s;
    log->last++;
    log->bytes += bytes_of(s) + seen_kind_bytes(s->kind);
    while (log->bytes > SEEN_BYTES && log->n > 1)
        seen_drop_oldest(log);
}

void testing_log_free(struct testing_log *log)
{
    if (!log)
        return;
    seen_drop(log, NULL);
    unknown_forget(&log->unknown, NULL);
    free(log->unknown.list);
    free(log->ring);
    seen_kinds_free(log->kinds);
    free(log);
}

/* --- showing requests ------------------------------------------------------------------------- */

static json_t *parsed(const char *text)
{
    return text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
}

static json_t *render(const struct seen *s, int64_t number)
{
    const struct seen_kind *k = s->kind;
    char time[TIMEFMT_SIZE];
    timefmt_wire(s->time_us, time);
    json_t *o = json_pack(
        "{s:I, s:s, s:f, s:s, s:s+, s:s*, s:s*, s:s*, s:s*, s:i, s:o*, s:o*}", "number",
        (json_int_t)number, "time", time, "milliseconds", (double)s->took_us / 1000, "method",
        k->method, "path", s->texts, k->query, "operation", k->operation, "service", k->service,
        "subscription", k->subscription, "by", k->by, "status", (int)s->status, "request",
        parsed(text_at(s, s->asked)), "reply", parsed(text_at(s, s->answered)));
    if (k->fault != 0)
        json_object_set_new(o, "fault", json_integer(k->fault));
    return o;
}

static bool fits(const struct seen *s, const struct selector *match, struct strbuf *target)
{
    const struct seen_kind *k = s->kind;
    strbuf_reset(target);
    strbuf_concat(target, s->texts, k->query);
    const struct request_facts told = {.method = k->method,
                                       .operation = k->operation,
                                       .path = target->s,
                                       .subscription = k->subscription,
                                       .status = s->status};
    return selector_fits(match, &told);
}

/* The number of the oldest request. */
static int64_t first_number(const struct testing_log *log)
{
    return log->last - (int64_t)log->n + 1;
}

bool seen_fits(const struct testing_log *log, int64_t number, const struct selector *match)
{
    struct strbuf target = STRBUF_INIT;
    assert(number >= first_number(log) && number <= log->last);
    const struct seen *s = *place_at(log, (size_t)(number - first_number(log)));
    bool fit = s && fits(s, match, &target);
    strbuf_free(&target);
    return fit;
}

json_t *seen_fitting(const struct testing_log *log, const struct selector *match, int64_t after,
                     size_t max)
{
    json_t *out = json_array();
    struct strbuf target = STRBUF_INIT;
    int64_t first = first_number(log);
    for (int64_t n = first; n <= log->last && json_array_size(out) < max; n++) {
        const struct seen *s = *place_at(log, (size_t)(n - first));
        if (n > after && s && fits(s, match, &target))
            json_array_append_new(out, render(s, n));
    }
    strbuf_free(&target);
    return out;
}
