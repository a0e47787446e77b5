/* SPDX-License-Identifier: MIT
 *
 * Events as JSON, and the right that a principal needs to see an event.
 */
#ifndef API_ARM_EVENT_TEXT_H
#define API_ARM_EVENT_TEXT_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"

struct fleet;
struct storage;

/* The scope and the name of an event's resource; name "": the resource was removed. Texts are in
 * the arena. */
struct event_subject {
    struct scope scope;
    const char *cluster, *name; /* cluster: a node's cluster or pool */
    const char *machine;        /* a node's machine; NULL: none or unknown */
    bool is_batch;              /* Azure Batch: scope.workspace is the account */
};
/* Reads the resource of an event: 1; 0: resources of its kind have no events; -1: err. */
int event_subject(struct storage *st, const struct fleet *fl, struct arena *a,
                  const struct event *ev, struct event_subject *out, struct err *e) MUST_CHECK;
bool event_has_kind(enum resource_kind kind); /* resources of this kind have events */
/* The state that is shown for a removal, which is an event whose number and states are 0. */
#define EVENT_REMOVED "deleted"
/* The event as a JSON object. New reference. */
json_t *event_show(const struct event *ev, const struct event_subject *s);
/* A principal sees the event if it has this right (constant text) at event_scope(). */
const char *event_action(const struct event *ev, const struct event_subject *s);
const char *event_scope(struct arena *a, const struct event *ev, const struct event_subject *s);

#endif
