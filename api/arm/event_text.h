/* SPDX-License-Identifier: MIT
 *
 * Events in the form of replies.
 */
#ifndef API_ARM_EVENT_TEXT_H
#define API_ARM_EVENT_TEXT_H

#include <jansson.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"

struct storage;

/* 1: *out is a new reference. 0: resources of its kind have no events. -1: err. */
int event_render(struct storage *st, struct arena *a, const struct event *ev, json_t **out,
                 struct err *e) MUST_CHECK;

#endif
