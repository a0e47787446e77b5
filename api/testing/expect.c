/* SPDX-License-Identifier: MIT
 *
 * Requests of tests that wait for other requests: the reply is sent when as many matching requests
 * have finished as the test expects.
 */
#include <limits.h>
#include <stdlib.h>

#include "api/http/accept.h"
#include "api/testing/errors.h"
#include "api/testing/log.h"
#include "api/testing/routes.h"
#include "api/testing/testing.h"
#include "lib/jsontext.h"
#include "model/schema_rows.h"

#define TIMEOUT_MAX_S 600

static void on_closed(uv_handle_t *h)
{
    free(h);
}

static void release(void *kept)
{
    struct expecting *x = kept;
    if (x->prev) {
        *x->prev = x->next;
        if (x->next)
            x->next->prev = x->prev;
    }
    if (x->timer)
        uv_close((uv_handle_t *)x->timer, on_closed);
    free(x);
}

static struct replied *found(const struct expecting *x)
{
    json_t *value = seen_fitting(x->log, &x->match, x->after, SEEN_MAX);
    return reply_json(x->r, 200,
                      json_pack("{s:o, s:I}", "value", value, "last", (json_int_t)x->log->last));
}

/* Replies to the waiting request. request_release() takes `x` out of the list, and frees it. */
static void answer(struct expecting *x, struct replied *token)
{
    struct request *r = x->r;
    request_release(r);
    request_finish(r, token);
}

static void not_seen(struct expecting *x)
{
    struct err e;
    struct request *r = x->r;
    const char *fitting = jsontext_new_in(&r->arena, selector_render(&x->match));
    long long others = x->log->last > x->after ? x->log->last - x->after - x->seen : 0;
    err_set(&e, TESTING_NOT_SEEN, NULL,
            "%d of the %d expected requests matched %.300s, and %lld others did not (after number "
            "%lld of the log).",
            x->seen, x->count, fitting, others, (long long)x->after);
    answer(x, reply_err(r, &e));
}

static void on_time(uv_timer_t *timer)
{
    not_seen(timer->data);
}

void expecting_hear(struct testing_log *log)
{
    for (struct expecting *x = log->waiting, *next; x; x = next) {
        next = x->next;
        x->seen += log->last > x->after && seen_fits(log, log->last, &x->match);
        if (x->seen >= x->count)
            answer(x, found(x));
    }
}

void testing_log_hurry(struct testing_log *log)
{
    while (log && log->waiting)
        not_seen(log->waiting);
}

static const struct field expecting_rows[] = {
    OBJECT("match", 0, selector_body, INTO(expecting, match)),
    INT("count", 0, 1, SEEN_MAX, .fallback = "1", INTO(expecting, count)),
    REAL("timeoutSeconds", .max = TIMEOUT_MAX_S, .fallback = "10", INTO(expecting, timeout_s)),
    INT("after", .max = INT64_MAX, INTO(expecting, after)),
};
static SCHEMA(expecting_body, expecting_rows, "Expectation", FILLS(expecting));

static int read_body(struct request *r, struct expecting *x, struct err *e)
{
    if (request_read_body(r, &expecting_body, x, e) < 0 || selector_check(r, &x->match, e) < 0)
        return -1;
    if (x->match.pool || x->match.name)
        return err_set(
            e, ERR_INVALID_PROPERTY, x->match.pool ? "match.pool" : "match.name",
            "match.pool and match.name are not for requests; they are for faults of nodes.");
    return 0;
}

static int count_now(const struct expecting *x)
{
    json_auto_t *fitting = seen_fitting(x->log, &x->match, x->after, SEEN_MAX);
    int n = (int)json_array_size(fitting);
    return n;
}

static void wait(struct expecting *x)
{
    struct testing_log *log = x->log;
    x->timer = xcalloc(1, sizeof *x->timer);
    uv_timer_init(log->loop, x->timer);
    x->timer->data = x;
    uv_timer_start(x->timer, on_time, (uint64_t)(x->timeout_s * 1000), 0);
    x->prev = &log->waiting;
    x->next = log->waiting;
    if (x->next)
        x->next->prev = &x->next;
    log->waiting = x;
}

struct replied *seen_expect(struct request *r)
{
    struct err e;
    struct expecting *x = xcalloc(1, sizeof *x);
    x->r = r;
    x->log = testing_of(r)->log;
    request_keep(r, x, release);
    if (read_body(r, x, &e) < 0)
        return reply_err(r, &e);
    x->seen = count_now(x);
    if (x->seen >= x->count)
        return found(x);
    wait(x);
    return reply_later(r);
}
