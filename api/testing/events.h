/* SPDX-License-Identifier: MIT
 *
 * Events as they happen, for those who wait for them.
 */
#ifndef API_TESTING_EVENTS_H
#define API_TESTING_EVENTS_H

#include <uv.h>

#include "api/http/request.h"
#include "api/testing/routes.h"

struct storage;
struct testing_events;

/* testing_events_free() after the server has stopped. */
struct testing_events *testing_events_create(uv_loop_t *loop, struct storage *st);
/* The server stops: ends what waits. */
void testing_events_hurry(struct testing_events *all);
void testing_events_free(struct testing_events *all);

/* ?after=N&max=M&subscription=ID&timeoutSeconds=S: JSON lines, at least one if it comes in time.
 * Accept: text/event-stream: server-sent events without end, from Last-Event-ID or `after` on. */

#endif
