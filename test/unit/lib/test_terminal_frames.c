/* SPDX-License-Identifier: MIT
 *
 * Frames of terminals: whole, in pieces, and wrong.
 */
#include <string.h>

#include "lib/terminal_frames.h"
#include "test/unit/support/tests.h"

static void feed_text(struct terminal_frames *f, const char *bytes, size_t n)
{
    terminal_frames_feed(f, bytes, n);
}

TEST(frames_come_as_they_were_added)
{
    struct terminal_frames f = {.of_daemon = false};
    struct strbuf b = STRBUF_INIT;
    struct terminal_frame got;
    struct err e;
    terminal_frame_add(&b, TERMINAL_INPUT, "abc", 3);
    terminal_frame_add(&b, TERMINAL_INPUT, "", 0);
    terminal_frame_add(&b, TERMINAL_WINDOW, "\0\x18\0\x50", 4);
    for (size_t i = 0; i < b.len; i++) { /* byte by byte: a frame comes with its last byte */
        int rc = terminal_frames_next(&f, &got, &e);
        assert_int_equal(rc, i == 8 || i == 13);
        feed_text(&f, b.s + i, 1);
    }
    assert_int_equal(terminal_frames_next(&f, &got, &e), 1);
    assert_int_equal(got.kind, TERMINAL_WINDOW);
    assert_int_equal(got.n, 4);
    assert_int_equal(got.bytes[1], 24);
    assert_int_equal(terminal_frames_waiting(&f), 0);
    terminal_frames_free(&f);
    strbuf_free(&b);
}

static void refuse(bool of_daemon, const char *bytes, const char *why)
{
    struct terminal_frames f = {.of_daemon = of_daemon};
    struct terminal_frame got;
    struct err e;
    feed_text(&f, bytes, TERMINAL_FRAME_HEADER);
    assert_int_equal(terminal_frames_next(&f, &got, &e), -1);
    assert_non_null(strstr(e.msg, why));
    terminal_frames_free(&f);
}

TEST(what_is_no_frame)
{
    refuse(false, "o\0\0\0\1", "not a kind of frame that a client sends");
    refuse(true, "i\0\0\0\1", "not a kind of frame that the daemon sends");
    refuse(false, "\xff\0\0\0\1", "begins with the byte 255");
    refuse(false, "i\0\0\x80\1", "32769 bytes");
    refuse(false, "i\xff\xff\xff\xff", "4294967295 bytes");
    refuse(false, "w\0\0\0\5", "it has 4 to 4");
    refuse(true, "x\0\0\0\1", "it has 2 to 2");
}
