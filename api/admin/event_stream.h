/* SPDX-License-Identifier: MIT
 *
 * GET /batchaid/events/stream: server-sent events with the events of GET /batchaid/events and with
 * changes of machines. Each principal gets the events that its roles permit.
 *
 *   events of a turn are on disk -> a round: the events are read once, as texts, into the ring
 *                                -> each stream whose client has taken all gets the next ones
 *
 * A round begins at most every ROUND_MS; without events nothing is read. A stream is only a
 * position in the ring, so a client that does not read needs no memory. If the ring no longer has
 * the next event of a client, the client gets `reset`: it must read its lists again.
 */
#ifndef API_ADMIN_EVENT_STREAM_H
#define API_ADMIN_EVENT_STREAM_H

#include "api/admin/admin.h"

#define EVENT_STREAMS_MAX        512 /* fewer if live_most() is less */
#define EVENT_STREAMS_OF_ONE_MAX 128 /* of one principal */

/* Borrows all arguments; the storage and the fleet until the server has stopped. `time` has the
 * wall clock for the times of events. */
struct event_streams *event_streams_create(uv_loop_t *loop, struct loop *time,
                                           const struct log *log, struct storage *st,
                                           const struct access *access, struct fleet *fl);
/* Call it after the server has stopped: that ends all streams. */
void event_streams_free(struct event_streams *all);

#endif
