/* SPDX-License-Identifier: MIT
 *
 * Events: changes of state, written in the transaction that makes them.
 */
#include "model/failure.h"

#include "storage/overview.h"
#include "storage/storage_priv.h"
#include <assert.h>

/* How many events a resource keeps: a job that is requeued ten times has some 40. */
#define EVENTS_KEPT 100

const char *st_reason(const char *given, int failure)
{
    return given || failure == FAIL_NONE ? given : failure_name(failure);
}

int st_event_add(struct storage *st, const struct event *ev, struct err *e)
{
    assert(ev->kind >= RES_GROUP && ev->kind <= RES_BATCH_CHORE && ev->resource_id != 0);
    if (st_event_insert(st, ev, e) < 0)
        return -1;
    /* The first event of a resource cannot exceed the limit. */
    return ev->from == 0 ? 0 : st_event_trim(st, ev, EVENTS_KEPT, e);
}
