/* SPDX-License-Identifier: MIT
 *
 * Events: changes of state, written in the transaction that makes them.
 */
#include "model/failure.h"

#include "storage/overview.h"
#include "storage/storage_priv.h"
#include <assert.h>

/* How many events a resource keeps: a job that is queued again ten times has some 40. */
#define EVENTS_KEPT 100

const char *st_reason(const char *given, int failure)
{
    return given || failure == FAIL_NONE ? given : failure_name(failure);
}

static int trim(struct storage *st, const struct event *ev, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_EVENT_TRIM, e) < 0)
        return -1;
    q_int(&q, ev->kind);
    q_int(&q, ev->resource_id);
    q_int(&q, EVENTS_KEPT);
    return q_run(&q, e);
}

int st_event_add(struct storage *st, const struct event *ev, struct err *e)
{
    struct q q;
    assert(ev->kind >= RES_GROUP && ev->kind <= RES_BATCH_CHORE && ev->resource_id != 0);
    if (q_write(&q, st, ST_EVENT_INSERT, e) < 0)
        return -1;
    q_row(&q, &event_row, ev, NULL);
    if (q_run(&q, e) < 0)
        return -1;
    return ev->from == 0
               ? 0
               : trim(st, ev, e); /* the first event of a resource cannot be one too many */
}

int st_event_since(struct storage *st, struct arena *a, int64_t after, int limit,
                   struct event **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_EVENT_SINCE);
    q_int(&q, after);
    q_int(&q, limit);
    void *items;
    if (q_rows(&q, a, &event_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_event_of(struct storage *st, struct arena *a, enum resource_kind kind, int64_t resource_id,
                struct event **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, ST_EVENT_OF);
    q_int(&q, kind);
    q_int(&q, resource_id);
    if (q_rows(&q, a, &event_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_event_forget(struct storage *st, enum resource_kind kind, int64_t resource_id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_EVENT_FORGET, e) < 0)
        return -1;
    q_int(&q, kind);
    q_int(&q, resource_id);
    return q_run(&q, e);
}
