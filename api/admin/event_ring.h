/* SPDX-License-Identifier: MIT
 *
 * The latest events as texts, in order, for all streams of events. Each event has a position, which
 * does not change while the event is in the ring. When the ring is full, the oldest event leaves
 * it.
 */
#ifndef API_ADMIN_EVENT_RING_H
#define API_ADMIN_EVENT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_RING_EVENTS 4096
#define EVENT_RING_BYTES  (2U * 1024 * 1024)
#define EVENT_ID_SIZE     32

/* A principal who has the right `action` at `scope` may see the event. The removal of a resource
 * has no number of its own: its `seq` is the number of the event before it. */
struct ring_event {
    int64_t seq;
    bool is_beside;         /* a removal */
    char id[EVENT_ID_SIZE]; /* for clients */
    const char *action;     /* constant text */
    const char *scope, *text;
    size_t n; /* bytes of the text */
};

/* All zero: an empty ring to which all events after number 0 will be added. */
struct event_ring {
    struct ring_event **at; /* NULL: empty */
    int64_t first, end;     /* positions: the oldest event; after the newest */
    int64_t after;          /* the ring has all events with higher numbers */
    size_t bytes;
    bool has_lost; /* removals are missing in it; lost: the last number */
    int64_t lost;
};

/* Empties the ring. The next event that is added is the first one after number `after`. */
void event_ring_reset(struct event_ring *g, int64_t after);
/* Copies the texts. `ev` is newer than all events in the ring. */
void event_ring_add(struct event_ring *g, const struct ring_event *ev);
/* `ev` is older than all events in the ring. False: the ring has no room, and `ev` is not added. */
bool event_ring_add_older(struct event_ring *g, const struct ring_event *ev);
/* An event by its position, which is in [first, end). Valid until an event is added. */
const struct ring_event *event_ring_get(const struct event_ring *g, int64_t at);
/* Records that the removal with number `seq` is not in the ring: a client whose last event is older
 * may never get it. */
void event_ring_lose(struct event_ring *g, int64_t seq);
/* Whether a client whose last event is `seq` may have missed a removal. */
bool event_ring_lacks(const struct event_ring *g, int64_t seq);
/* The position of the first event after number `seq`. */
int64_t event_ring_find(const struct event_ring *g, int64_t seq);

#endif
