/* SPDX-License-Identifier: MIT
 *
 * Events in the form of replies, and whom they concern.
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

/* The place and the name of an event's resource; name "": it is gone. Texts are in the arena. */
struct event_subject {
    struct scope scope;
    const char *cluster, *name; /* cluster: of a node, the name of its cluster or pool */
    const char *machine;        /* of a node; NULL: none, or not known any more */
    bool is_batch;              /* of Azure Batch: its account takes the place of a workspace */
};
/* A getter; 0: resources of its kind have no events. */
int event_subject(struct storage *st, const struct fleet *fl, struct arena *a,
                  const struct event *ev, struct event_subject *out, struct err *e) MUST_CHECK;
bool event_has_kind(enum resource_kind kind); /* whether resources of the kind have events */
/* The state of a removal, which is shown as an event with the number and the states 0. */
#define EVENT_REMOVED "deleted"
/* A new reference. */
json_t *event_show(const struct event *ev, const struct event_subject *s);
/* The action (of static life) that a principal must be allowed to do at the scope, to see the
 * event. */
const char *event_action(const struct event *ev, const struct event_subject *s);
const char *event_scope(struct arena *a, const struct event *ev, const struct event_subject *s);

#endif
