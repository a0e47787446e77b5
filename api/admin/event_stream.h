/* SPDX-License-Identifier: MIT
 *
 * GET /batchaid/events/stream: server-sent events, those of GET /batchaid/events and those of
 * machines. Each principal gets the events that its roles let it see.
 *
 *   a turn's events are on disk -> a round: they are read once, as texts, into the ring
 *                               -> each stream whose client has taken all gets the next ones
 *
 * A round begins at most every ROUND_MS; nothing is read while nothing happens. A stream is a
 * position in the ring, so a client that does not read costs nothing. If the ring no longer has the
 * next event of a client, the client is told to read its lists again (`reset`).
 */
#ifndef API_ADMIN_EVENT_STREAM_H
#define API_ADMIN_EVENT_STREAM_H

#include "api/admin/admin.h"

#define EVENT_STREAMS_MAX        512 /* fewer if the server has few connections: live_most() */
#define EVENT_STREAMS_OF_ONE_MAX 128 /* of one principal */

/* Borrows all; the storage and the fleet until the server has stopped. `time` has the wall clock
 * that is shown. */
struct event_streams *event_streams_create(uv_loop_t *loop, struct loop *time,
                                           const struct log *log, struct storage *st,
                                           const struct access *access, struct fleet *fl);
/* Call after the server has stopped, which ends all streams. */
void event_streams_free(struct event_streams *all);

#endif
