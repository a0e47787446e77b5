/* SPDX-License-Identifier: MIT
 *
 * One end of the two streams of messages of a remote command, over a path that may lose any
 * message: numbers outgoing messages, keeps each until the other end acknowledges it, and accepts
 * incoming messages once and in order. At most STREAM_WINDOW messages are unacknowledged, and
 * STREAM_CONTROLS more of REMOTE_CONTROL, so no node on the path holds more. Pure: a callback gets
 * the messages to send.
 */
#ifndef NODEAGENT_PROTO_WIRE_STREAM_H
#define NODEAGENT_PROTO_WIRE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "nodeagent-proto/wire/remote.h"

#define STREAM_WINDOW   8
#define STREAM_CONTROLS 8 /* so that a signal overtakes input that its command does not read */
#define STREAM_KEPT     (STREAM_WINDOW + STREAM_CONTROLS)

struct remote_stream {
    struct remote_kept {
        struct remote_msg msg; /* its bytes are `owned` */
        char *owned;
    } kept[STREAM_KEPT]; /* message n is at n % STREAM_KEPT, from `acked` up to `next` */
    int64_t acked, next; /* outgoing: the first unacknowledged number, and the next free number */
    int64_t expected;    /* incoming: the next expected number */
};

typedef void (*remote_stream_send)(void *ctx, const struct remote_msg *m);

void remote_stream_free(struct remote_stream *s);

/* Whether a message may be put; remote_stream_has_room_to_control(): a message of
 * REMOTE_CONTROL. */
bool remote_stream_has_room(const struct remote_stream *s);
bool remote_stream_has_room_to_control(const struct remote_stream *s);
/* True: no sent message waits for its acknowledgement. */
bool remote_stream_is_clear(const struct remote_stream *s);
/* Numbers the message, keeps a copy, and sends it. Call it only if there is room for it. */
void remote_stream_put(struct remote_stream *s, const struct remote_msg *m, remote_stream_send send,
                       void *ctx);
/* Frees the copies of messages before `n`, which the other end expects next. An impossible number
 * is ignored. */
void remote_stream_acked(struct remote_stream *s, int64_t n);
/* Sends all unacknowledged messages again. */
void remote_stream_repeat(const struct remote_stream *s, remote_stream_send send, void *ctx);
/* Accepts the message, a DATA or EXIT, if it is the expected message. False: it is another
 * message. */
bool remote_stream_take(struct remote_stream *s, const struct remote_msg *m);

#endif
