/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/wire/stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"

static struct stream_kept *kept_at(struct stream *s, int64_t n)
{
    assert(n >= s->acked && n < s->acked + STREAM_WINDOW);
    return &s->kept[n % STREAM_WINDOW];
}

static void drop(struct stream_kept *k)
{
    if (k->owned)
        explicit_bzero(k->owned, k->msg.n_bytes);
    free(k->owned);
    *k = (struct stream_kept){.owned = NULL};
}

void stream_free(struct stream *s)
{
    for (size_t i = 0; i < STREAM_WINDOW; i++)
        drop(&s->kept[i]);
}

bool stream_has_room(const struct stream *s)
{
    return s->next - s->acked < STREAM_WINDOW;
}

bool stream_is_clear(const struct stream *s)
{
    return s->next == s->acked;
}

void stream_put(struct stream *s, const struct remote_msg *m, stream_send send, void *ctx)
{
    assert(stream_has_room(s));
    struct stream_kept *k = kept_at(s, s->next);
    k->msg = *m;
    k->msg.n = s->next++;
    if (m->n_bytes > 0) {
        k->owned = xcalloc(1, m->n_bytes);
        memcpy(k->owned, m->bytes, m->n_bytes);
        k->msg.bytes = k->owned;
    }
    send(ctx, &k->msg);
}

void stream_acked(struct stream *s, int64_t n)
{
    if (n > s->next)
        return;
    while (s->acked < n) {
        drop(kept_at(s, s->acked));
        s->acked++;
    }
}

void stream_repeat(const struct stream *s, stream_send send, void *ctx)
{
    for (int64_t n = s->acked; n < s->next; n++)
        send(ctx, &s->kept[n % STREAM_WINDOW].msg);
}

bool stream_take(struct stream *s, const struct remote_msg *m)
{
    if (m->n != s->expected)
        return false;
    s->expected++;
    return true;
}
