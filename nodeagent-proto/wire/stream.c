/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/wire/stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

static struct remote_kept *kept_at(struct remote_stream *s, int64_t n)
{
    assert(n >= s->acked && n < s->acked + STREAM_KEPT);
    return &s->kept[n % STREAM_KEPT];
}

static void drop(struct remote_kept *k)
{
    if (k->owned)
        explicit_bzero(k->owned, k->msg.n_bytes);
    free(k->owned);
    *k = (struct remote_kept){.owned = NULL};
}

void remote_stream_free(struct remote_stream *s)
{
    for (size_t i = 0; i < STREAM_KEPT; i++)
        drop(&s->kept[i]);
}

bool remote_stream_has_room(const struct remote_stream *s)
{
    return s->next - s->acked < STREAM_WINDOW;
}

bool remote_stream_has_room_to_control(const struct remote_stream *s)
{
    return s->next - s->acked < STREAM_KEPT;
}

bool remote_stream_is_clear(const struct remote_stream *s)
{
    return s->next == s->acked;
}

void remote_stream_put(struct remote_stream *s, const struct remote_msg *m, remote_stream_send send,
                       void *ctx)
{
    assert(m->channel == REMOTE_CONTROL ? remote_stream_has_room_to_control(s)
                                        : remote_stream_has_room(s));
    struct remote_kept *k = kept_at(s, s->next);
    k->msg = *m;
    k->msg.n = s->next++;
    if (m->n_bytes > 0) {
        k->owned = xcalloc(1, m->n_bytes);
        memcpy(k->owned, m->bytes, m->n_bytes);
        k->msg.bytes = k->owned;
    }
    send(ctx, &k->msg);
}

void remote_stream_acked(struct remote_stream *s, int64_t n)
{
    if (n > s->next)
        return;
    while (s->acked < n) {
        drop(kept_at(s, s->acked));
        s->acked++;
    }
}

void remote_stream_repeat(const struct remote_stream *s, remote_stream_send send, void *ctx)
{
    for (int64_t n = s->acked; n < s->next; n++)
        send(ctx, &s->kept[n % STREAM_KEPT].msg);
}

bool remote_stream_take(struct remote_stream *s, const struct remote_msg *m)
{
    if (m->n != s->expected)
        return false;
    s->expected++;
    return true;
}
