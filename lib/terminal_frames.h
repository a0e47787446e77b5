/* SPDX-License-Identifier: MIT
 *
 * The frames of a terminal between client and daemon, after the upgrade to "batchaid-terminal/1": a
 * letter, the length of the rest in 4 bytes, big-endian, and at most TERMINAL_FRAME_MAX bytes. For
 * any input, the reader returns a frame, "more bytes are needed" or an error; after an error the
 * caller must close the connection.
 *
 *   client  i  input; empty: its end          daemon  o  output       f  failed: why, as text; the
 *           w  rows and columns, 2 bytes              e  errors          last, as x
 *              each                                   x  the end: exit code and signal, a byte each
 *           s  a signal, 1 byte                   a  taken: so many bytes of frames i, 4 bytes
 *   both    p  empty: still there
 */
#ifndef LIB_TERMINAL_FRAMES_H
#define LIB_TERMINAL_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"
#include "lib/strbuf.h"

#define TERMINAL_PROTOCOL     "batchaid-terminal/1"
#define TERMINAL_FRAME_MAX    32768U
#define TERMINAL_FRAME_HEADER 5U
/* A client sends a frame at least every TERMINAL_PING_S seconds; after TERMINAL_GONE_S seconds
 * without a frame the daemon treats it as gone. The daemon answers each frame `p` with a `p`. */
#define TERMINAL_PING_S 10
#define TERMINAL_GONE_S 60

/* The most bytes of frames `i`, headers included, that a client may have sent before the daemon
 * confirms them with a frame `a`. So the daemon never has to stop reading, and notices at once when
 * a client closes the connection. */
#define TERMINAL_WINDOW_MAX (256U * 1024)

enum terminal_frame_kind {
    TERMINAL_INPUT = 'i',
    TERMINAL_WINDOW = 'w',
    TERMINAL_SIGNAL = 's',
    TERMINAL_PING = 'p',
    TERMINAL_OUTPUT = 'o',
    TERMINAL_ERRORS = 'e',
    TERMINAL_EXIT = 'x',
    TERMINAL_FAILED = 'f',
    TERMINAL_TAKEN = 'a'
};

struct terminal_frame {
    enum terminal_frame_kind kind;
    const unsigned char *bytes; /* borrowed */
    size_t n;
};

struct terminal_frames {
    struct strbuf buf; /* the bytes from `at` on have not been returned yet */
    size_t at;
    bool of_daemon; /* true: reads frames that a daemon sent; false: frames that a client sent */
};

void terminal_frames_free(struct terminal_frames *f);
void terminal_frames_feed(struct terminal_frames *f, const void *bytes, size_t n);
/* 1: *out is the next frame, valid until the next call of any function here; 0: more bytes are
 * needed; -1: the bytes are not frames. */
int terminal_frames_next(struct terminal_frames *f, struct terminal_frame *out,
                         struct err *e) MUST_CHECK;
/* How many bytes were fed but not yet returned as frames. */
size_t terminal_frames_waiting(const struct terminal_frames *f);
/* Appends a frame. */
void terminal_frame_add(struct strbuf *out, enum terminal_frame_kind kind, const void *bytes,
                        size_t n);

#endif
