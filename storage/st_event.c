/* SPDX-License-Identifier: MIT
 *
 * Events: changes of state, written in the transaction that makes them. Watchers are told of a
 * turn's events after the sync that covers the turn.
 */
#include "model/failure.h"

#include "storage/overview.h"
#include "storage/storage_priv.h"
#include <assert.h>
#include <stdlib.h>

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
    st->events_added = true;
    /* The first event of a resource cannot exceed the limit. */
    return ev->from == 0 ? 0 : st_event_trim(st, ev, EVENTS_KEPT, e);
}

/* --- for watchers ----------------------------------------------------------------------------- */

/* The events of a turn. */
struct events_noted {
    struct storage *st;
    int64_t last; /* number of the last event */
};

static void on_disk(void *ctx, const struct err *why)
{
    struct events_noted *n = ctx;
    struct storage *st = n->st;
    bool grown = !why && n->last > st->events_on_disk;
    if (grown)
        st->events_on_disk = n->last;
    free(n);
    if (grown && st->events_grown)
        st->events_grown(st->events_grown_ctx, st->events_on_disk);
}

/* Reads the number of the last event. It is read here, and not recorded with each event, because
 * numbers that a rollback has taken back are used again. */
static void note(struct storage *st)
{
    int64_t last = 0;
    struct err e;
    if (st->turn_doomed || st_event_newest(st, &last, &e) < 0)
        return;
    struct events_noted *n = xcalloc(1, sizeof *n);
    *n = (struct events_noted){st, last};
    st_when_durable(st, on_disk, n);
}

int st_events_begin(struct storage *st, struct err *e)
{
    st->events_note = note;
    return st_event_newest(st, &st->events_on_disk, e);
}

int64_t st_events_on_disk(const struct storage *st)
{
    return st->events_on_disk;
}

void st_watch_events(struct storage *st, st_events_fn fn, void *ctx)
{
    st->events_grown = fn;
    st->events_grown_ctx = ctx;
}

int st_removes(struct storage *st, enum resource_kind kind, int64_t id, struct err *e)
{
    if (st->removes)
        st->removes(st->removes_ctx, kind, id);
    return st_meta_note_removal(st, e);
}

void st_watch_removals(struct storage *st, st_removal_fn fn, void *ctx)
{
    st->removes = fn;
    st->removes_ctx = ctx;
}
