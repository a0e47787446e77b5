/* SPDX-License-Identifier: MIT
 *
 * Streams of remote commands over a way that loses, repeats and delays messages.
 */
#include "lib/strbuf.h"
#include "nodeagent-proto/wire/stream.h"
#include "test/unit/support/tests.h"

#define MESSAGES  500
#define UNDER_WAY 64

/* The way to the other end: what was sent and has not arrived. */
struct stream_way {
    struct {
        int64_t n;
        char text[16];
    } sent[UNDER_WAY];
    size_t n_sent;
    int lost_in_16; /* how many of 16 messages are lost */
    uint64_t random;
};

static unsigned chance(struct stream_way *w)
{
    w->random = w->random * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(w->random >> 60);
}

static void send_over(void *ctx, const struct remote_msg *m)
{
    struct stream_way *w = ctx;
    if ((int)chance(w) < w->lost_in_16 || w->n_sent == UNDER_WAY)
        return;
    w->sent[w->n_sent].n = m->n;
    assert_true(m->n_bytes < sizeof w->sent[0].text);
    memcpy(w->sent[w->n_sent].text, m->bytes, m->n_bytes);
    w->sent[w->n_sent++].text[m->n_bytes] = '\0';
}

/* Lets all that is under way arrive. */
static void arrive(struct stream_way *w, struct remote_stream *to, struct strbuf *got)
{
    for (size_t i = 0; i < w->n_sent; i++) {
        const struct remote_msg m = {.kind = REMOTE_DATA, .n = w->sent[i].n};
        if (remote_stream_take(to, &m))
            strbuf_printf(got, "%s ", w->sent[i].text);
    }
    w->n_sent = 0;
}

static void put(struct remote_stream *s, int64_t n, struct stream_way *w)
{
    char text[16];
    int len = snprintf(text, sizeof text, "%lld", (long long)n);
    remote_stream_put(
        s, &(struct remote_msg){.kind = REMOTE_DATA, .bytes = text, .n_bytes = (size_t)len},
        send_over, w);
}

TEST(test_everything_arrives_once_and_in_order)
{
    for (int lost = 0; lost < 16; lost += 3) {
        struct stream_way w = {.lost_in_16 = lost, .random = (uint64_t)lost};
        struct remote_stream from = {.acked = 0}, to = {.acked = 0};
        struct strbuf got = STRBUF_INIT, want = STRBUF_INIT;
        while (from.acked < MESSAGES) {
            while (from.next < MESSAGES && remote_stream_has_room(&from)) {
                strbuf_printf(&want, "%lld ", (long long)from.next);
                put(&from, from.next, &w);
            }
            arrive(&w, &to, &got);
            if (chance(&w) < 8) /* the answer arrived */
                remote_stream_acked(&from, to.expected);
            if (chance(&w) < 4)
                remote_stream_repeat(&from, send_over, &w);
        }
        assert_string_equal(got.s, want.s);
        assert_true(remote_stream_is_clear(&from));
        strbuf_free(&got);
        strbuf_free(&want);
        remote_stream_free(&from);
        remote_stream_free(&to);
    }
}

TEST(test_a_window_of_messages_is_kept_and_no_more)
{
    struct stream_way w = {.lost_in_16 = 16};
    struct remote_stream s = {.acked = 0};
    assert_true(remote_stream_is_clear(&s));
    for (int i = 0; i < STREAM_WINDOW; i++) {
        assert_true(remote_stream_has_room(&s));
        put(&s, i, &w);
    }
    assert_false(remote_stream_has_room(&s));
    w.lost_in_16 = 0;
    remote_stream_repeat(&s, send_over, &w);
    assert_int_equal(w.n_sent, STREAM_WINDOW);
    remote_stream_acked(&s, STREAM_WINDOW + 1); /* it was never sent */
    assert_false(remote_stream_has_room(&s));
    remote_stream_acked(&s, 3);
    remote_stream_acked(&s, 1); /* late */
    w.n_sent = 0;
    remote_stream_repeat(&s, send_over, &w);
    assert_int_equal(w.n_sent, STREAM_WINDOW - 3);
    assert_string_equal(w.sent[0].text, "3");
    remote_stream_free(&s);
}

TEST(test_a_full_window_has_room_for_some_controls)
{
    struct stream_way w = {.lost_in_16 = 16};
    struct remote_stream s = {.acked = 0};
    const struct remote_msg control = {
        .kind = REMOTE_DATA, .channel = REMOTE_CONTROL, .bytes = "signal 2", .n_bytes = 8};
    for (int i = 0; i < STREAM_WINDOW; i++)
        put(&s, i, &w);
    for (int i = 0; i < STREAM_CONTROLS; i++) {
        assert_true(remote_stream_has_room_to_control(&s));
        remote_stream_put(&s, &control, send_over, &w);
    }
    assert_false(remote_stream_has_room_to_control(&s));
    w.lost_in_16 = 0;
    remote_stream_repeat(&s, send_over, &w);
    assert_int_equal(w.n_sent, STREAM_KEPT);
    assert_string_equal(w.sent[STREAM_WINDOW].text, "signal 2");
    remote_stream_acked(&s, STREAM_CONTROLS);
    assert_false(remote_stream_has_room(&s));
    assert_true(remote_stream_has_room_to_control(&s));
    remote_stream_free(&s);
}

TEST(test_what_came_and_what_is_ahead_is_not_taken)
{
    struct remote_stream s = {.expected = 5};
    assert_false(remote_stream_take(&s, &(struct remote_msg){.n = 4}));
    assert_false(remote_stream_take(&s, &(struct remote_msg){.n = 6}));
    assert_true(remote_stream_take(&s, &(struct remote_msg){.n = 5}));
    assert_int_equal(s.expected, 6);
}
