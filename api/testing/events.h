/* SPDX-License-Identifier: MIT
 *
 * Events as they happen, for clients that wait for them.
 */
#ifndef API_TESTING_EVENTS_H
#define API_TESTING_EVENTS_H

#include <uv.h>

#include "api/http/request.h"
#include "api/testing/routes.h"

struct storage;
struct testing_events;

/* Call testing_events_free() when the server has stopped. */
struct testing_events *testing_events_create(uv_loop_t *loop, struct storage *st);
/* Call when the server stops: replies to all waiting requests. */
void testing_events_hurry(struct testing_events *all);
void testing_events_free(struct testing_events *all);

/* Handles ?after=N&max=M&subscription=ID&timeoutSeconds=S. Replies with JSON lines when there is at
 * least one event, or when the time is over. With Accept: text/event-stream, replies with
 * server-sent events without end, beginning after Last-Event-ID or `after`. */

#endif
