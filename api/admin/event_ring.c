/* SPDX-License-Identifier: MIT
 *
 * The ring is an array of pointers, allocated when it is first needed; each event is one
 * allocation.
 */
#include "api/admin/event_ring.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

static struct ring_event **slot(const struct event_ring *g, int64_t at)
{
    return &g->at[(uint64_t)at % EVENT_RING_EVENTS];
}

static size_t size_of(const struct ring_event *ev)
{
    return sizeof *ev + strlen(ev->scope) + 1 + ev->n + 1;
}

static struct ring_event *copy_of(const struct ring_event *ev)
{
    size_t n_scope = strlen(ev->scope) + 1;
    struct ring_event *copy = xcalloc(1, size_of(ev));
    char *scope = (char *)(copy + 1), *text = scope + n_scope;
    *copy = *ev;
    memcpy(scope, ev->scope, n_scope);
    memcpy(text, ev->text, ev->n);
    copy->scope = scope;
    copy->text = text;
    return copy;
}

static bool is_full(const struct event_ring *g, size_t more)
{
    return g->end - g->first == EVENT_RING_EVENTS ||
           (g->end > g->first && g->bytes + more > EVENT_RING_BYTES);
}

void event_ring_lose(struct event_ring *g, int64_t seq)
{
    g->lost = g->has_lost && g->lost > seq ? g->lost : seq;
    g->has_lost = true;
}

bool event_ring_lacks(const struct event_ring *g, int64_t seq)
{
    return g->has_lost && seq <= g->lost;
}

static void drop_oldest(struct event_ring *g)
{
    struct ring_event *ev = *slot(g, g->first);
    if (ev->is_beside)
        event_ring_lose(g, ev->seq);
    g->after = ev->seq;
    g->bytes -= size_of(ev);
    g->first++;
    free(ev);
}

static void put(struct event_ring *g, int64_t at, const struct ring_event *ev)
{
    if (!g->at)
        g->at = xcalloc(EVENT_RING_EVENTS, sizeof(struct ring_event *));
    *slot(g, at) = copy_of(ev);
    g->bytes += size_of(ev);
}

void event_ring_add(struct event_ring *g, const struct ring_event *ev)
{
    while (is_full(g, size_of(ev)))
        drop_oldest(g);
    put(g, g->end++, ev);
}

bool event_ring_add_older(struct event_ring *g, const struct ring_event *ev)
{
    if (is_full(g, size_of(ev)))
        return false;
    put(g, --g->first, ev);
    return true;
}

const struct ring_event *event_ring_get(const struct event_ring *g, int64_t at)
{
    assert(at >= g->first && at < g->end);
    return *slot(g, at);
}

static bool is_behind(const struct ring_event *ev, int64_t seq)
{
    return ev->seq > seq || (ev->is_beside && ev->seq == seq);
}

int64_t event_ring_find(const struct event_ring *g, int64_t seq)
{
    int64_t low = g->first, high = g->end;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (is_behind(*slot(g, middle), seq))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void event_ring_reset(struct event_ring *g, int64_t after)
{
    while (g->end > g->first)
        drop_oldest(g);
    free(g->at);
    g->at = NULL;
    g->after = after;
}
