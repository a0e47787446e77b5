/* SPDX-License-Identifier: MIT
 *
 * The latest events as texts, in order, for all streams of events. Each has a position; positions
 * of present events do not change. When the ring is full, the oldest event leaves it.
 */
#ifndef API_ADMIN_EVENT_RING_H
#define API_ADMIN_EVENT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_RING_EVENTS 4096
#define EVENT_RING_BYTES  (2U * 1024 * 1024)
#define EVENT_ID_SIZE     32

/* A principal who may do `action` at `scope` may see the event. A removal has no number of its own;
 * it has the number of the event before it. */
struct ring_event {
    int64_t seq;
    bool is_beside;         /* the event has no number of its own */
    char id[EVENT_ID_SIZE]; /* for clients */
    const char *action;     /* of static life */
    const char *scope, *text;
    size_t n; /* bytes of the text */
};

/* Zeroed: empty, with all events after number 0. */
struct event_ring {
    struct ring_event **at; /* NULL: empty */
    int64_t first, end;     /* positions: of the oldest; behind the newest */
    int64_t after;          /* it has all events with higher numbers, up to the newest */
    size_t bytes;
    bool has_lost; /* removals are not in it any more: the last had this number */
    int64_t lost;
};

/* Empties it; the next event is the first after number `after`. */
void event_ring_reset(struct event_ring *g, int64_t after);
/* Copies the texts. The event is newer than all in the ring. */
void event_ring_add(struct event_ring *g, const struct ring_event *ev);
/* The event is older than all in the ring. False: there is no room. */
bool event_ring_add_older(struct event_ring *g, const struct ring_event *ev);
/* An event by its position, which is in [first, end). Valid until an event is added. */
const struct ring_event *event_ring_get(const struct event_ring *g, int64_t at);
/* Records a removal that is no longer in the ring: a client whose last event is older may lack
 * it. */
void event_ring_lose(struct event_ring *g, int64_t seq);
/* Whether a removal is lost to a client whose last event is `seq`. */
bool event_ring_lacks(const struct event_ring *g, int64_t seq);
/* The position of the first event that is behind number `seq`. */
int64_t event_ring_find(const struct event_ring *g, int64_t seq);

#endif
