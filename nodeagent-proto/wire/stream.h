/* SPDX-License-Identifier: MIT
 *
 * One end of a remote command's two streams of messages over a way that may lose any of them:
 * numbers what goes out, keeps it until the other end expects something later, and takes what
 * comes in once and in order. At most STREAM_WINDOW messages are without an answer, so whoever
 * passes them on holds no more. Pure: what is to be sent is given to a callback.
 */
#ifndef NODEAGENT_PROTO_WIRE_STREAM_H
#define NODEAGENT_PROTO_WIRE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "nodeagent-proto/wire/remote.h"

#define STREAM_WINDOW 8

struct remote_stream {
    struct remote_kept {
        struct remote_msg msg; /* its bytes are `owned` */
        char *owned;
    } kept[STREAM_WINDOW]; /* message n is in n % STREAM_WINDOW, from `acked` up to `next` */
    int64_t acked, next;   /* outgoing: answered below, the number that is free */
    int64_t expected;      /* incoming: the number that comes next */
};

typedef void (*remote_stream_send)(void *ctx, const struct remote_msg *m);

void remote_stream_free(struct remote_stream *s);

bool remote_stream_has_room(const struct remote_stream *s);
/* Nothing waits for an answer. */
bool remote_stream_is_clear(const struct remote_stream *s);
/* Numbers the message, keeps a copy, and sends it. Only if there is room. */
void remote_stream_put(struct remote_stream *s, const struct remote_msg *m, remote_stream_send send,
                       void *ctx);
/* The other end expects `n` next. A number that cannot be is ignored. */
void remote_stream_acked(struct remote_stream *s, int64_t n);
/* Sends again what the other end does not have. */
void remote_stream_repeat(const struct remote_stream *s, remote_stream_send send, void *ctx);
/* Whether the message, a DATA or EXIT, is the one that comes next, and is taken now. */
bool remote_stream_take(struct remote_stream *s, const struct remote_msg *m);

#endif
