/* SPDX-License-Identifier: MIT
 *
 * The ring of events for streams: order, positions, bounds.
 */
#include <string.h>

#include "api/admin/event_ring.h"
#include "lib/strbuf.h"
#include "test/unit/support/tests.h"

static struct ring_event event(int64_t seq, const char *text)
{
    return (struct ring_event){
        .seq = seq, .action = "read", .scope = "/subscriptions/s", .text = text, .n = strlen(text)};
}

static void add(struct event_ring *g, int64_t seq)
{
    const struct ring_event ev = event(seq, "{}");
    event_ring_add(g, &ev);
}

static bool add_older(struct event_ring *g, int64_t seq)
{
    const struct ring_event ev = event(seq, "{}");
    return event_ring_add_older(g, &ev);
}

TEST(test_events_are_copied_and_found_by_number_and_position)
{
    struct event_ring g = {0};
    event_ring_reset(&g, 10);
    assert_int_equal(event_ring_find(&g, 5), g.end);
    char text[] = "{\"a\":1}";
    const struct ring_event ev = event(12, text);
    event_ring_add(&g, &ev);
    memset(text, 'x', sizeof text - 1);
    add(&g, 15);
    assert_int_equal(g.after, 10);
    assert_int_equal(g.end - g.first, 2);
    const struct ring_event *got = event_ring_get(&g, event_ring_find(&g, 10));
    assert_memory_equal(got->text, "{\"a\":1}", got->n);
    assert_string_equal(got->scope, "/subscriptions/s");
    assert_int_equal(event_ring_get(&g, event_ring_find(&g, 12))->seq, 15);
    assert_int_equal(event_ring_get(&g, event_ring_find(&g, 14))->seq, 15);
    assert_int_equal(event_ring_find(&g, 15), g.end);
    event_ring_reset(&g, 0);
    assert_int_equal(g.bytes, 0);
}

/* Whoever has the event before a removal lacks the removal, perhaps. */
TEST(test_what_has_no_number_is_found_behind_its_event)
{
    struct event_ring g = {0};
    event_ring_reset(&g, 0);
    add(&g, 1);
    add(&g, 2);
    struct ring_event gone = event(2, "gone");
    gone.is_beside = true;
    event_ring_add(&g, &gone);
    event_ring_add(&g, &gone);
    add(&g, 3);
    assert_int_equal(event_ring_find(&g, 0), g.first);
    assert_int_equal(event_ring_find(&g, 1), g.first + 1);
    assert_int_equal(event_ring_find(&g, 2), g.first + 2);
    assert_int_equal(event_ring_find(&g, 3), g.end);
    event_ring_reset(&g, 0);
}

TEST(test_older_events_come_before_and_move_nobody)
{
    struct event_ring g = {0};
    event_ring_reset(&g, 10);
    add(&g, 11);
    int64_t at = event_ring_find(&g, 10);
    for (int64_t seq = 10; seq > 0; seq--)
        assert_true(add_older(&g, seq));
    assert_int_equal(event_ring_get(&g, at)->seq, 11);
    int64_t last = 0;
    for (int64_t i = g.first; i < g.end; i++) {
        assert_int_equal(event_ring_get(&g, i)->seq, last + 1);
        last++;
    }
    assert_int_equal(last, 11);
    event_ring_reset(&g, 0);
}

TEST(test_the_oldest_leave_a_full_ring)
{
    struct event_ring g = {0};
    event_ring_reset(&g, 0);
    for (int64_t seq = 1; seq <= EVENT_RING_EVENTS + 100; seq++)
        add(&g, seq);
    assert_int_equal(g.end - g.first, EVENT_RING_EVENTS);
    assert_int_equal(g.after, 100);
    assert_int_equal(event_ring_get(&g, g.first)->seq, 101);
    assert_false(add_older(&g, 100));
    assert_int_equal(event_ring_find(&g, 0), g.first);
    event_ring_reset(&g, 0);
}

/* Whoever has no later event than a removal that is gone perhaps lacks it. */
TEST(test_a_removal_that_leaves_the_ring_is_not_forgotten)
{
    struct event_ring g = {0};
    event_ring_reset(&g, 0);
    assert_false(event_ring_lacks(&g, 0));
    struct ring_event gone = event(1, "gone");
    gone.is_beside = true;
    add(&g, 1);
    event_ring_add(&g, &gone);
    for (int64_t seq = 2; seq <= EVENT_RING_EVENTS + 2; seq++) {
        assert_int_equal(event_ring_lacks(&g, 1), seq == EVENT_RING_EVENTS + 2);
        add(&g, seq);
    }
    assert_true(event_ring_lacks(&g, 0) && event_ring_lacks(&g, 1));
    assert_false(event_ring_lacks(&g, 2));
    event_ring_lose(&g, 0);
    assert_true(event_ring_lacks(&g, 1));
    event_ring_reset(&g, 0);
}

TEST(test_bytes_are_bounded)
{
    struct event_ring g = {0};
    struct strbuf b = STRBUF_INIT;
    for (int i = 0; i < 100000; i++)
        strbuf_putc(&b, 'x');
    event_ring_reset(&g, 0);
    for (int64_t seq = 1; seq <= 100; seq++) {
        const struct ring_event ev = event(seq, b.s);
        event_ring_add(&g, &ev);
        assert_true(g.bytes <= EVENT_RING_BYTES);
    }
    assert_true(g.end - g.first < 100 && g.end > g.first);
    assert_int_equal(event_ring_get(&g, g.end - 1)->seq, 100);
    event_ring_reset(&g, 0);
    strbuf_free(&b);
    b = (struct strbuf)STRBUF_INIT;
    while (b.len <= EVENT_RING_BYTES) /* one event may be larger than the ring */
        strbuf_puts(&b, "0123456789abcdef");
    const struct ring_event large = event(1, b.s);
    event_ring_add(&g, &large);
    add(&g, 2);
    assert_int_equal(g.end - g.first, 1);
    assert_int_equal(g.after, 1);
    event_ring_reset(&g, 0);
    strbuf_free(&b);
}
