/* SPDX-License-Identifier: MIT
 *
 * A table lists the kinds of frames, the sender of each kind, and its allowed lengths. Pure; bytes
 * that the reader has taken are wiped, because passwords are typed into terminals.
 */
#include "lib/terminal_frames.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

static const struct frame_rule {
    enum terminal_frame_kind kind;
    bool of_client, of_daemon;
    size_t min, max;
} kinds[] = {
    {TERMINAL_INPUT, true, false, 0, TERMINAL_FRAME_MAX},
    {TERMINAL_WINDOW, true, false, 4, 4},
    {TERMINAL_SIGNAL, true, false, 1, 1},
    {TERMINAL_PING, true, true, 0, 0},
    {TERMINAL_OUTPUT, false, true, 1, TERMINAL_FRAME_MAX},
    {TERMINAL_ERRORS, false, true, 1, TERMINAL_FRAME_MAX},
    {TERMINAL_EXIT, false, true, 2, 2},
    {TERMINAL_TAKEN, false, true, 4, 4},
    {TERMINAL_FAILED, false, true, 0, TERMINAL_FRAME_MAX},
};

void terminal_frames_free(struct terminal_frames *f)
{
    if (f->buf.s)
        explicit_bzero(f->buf.s, f->buf.len);
    strbuf_free(&f->buf);
    f->at = 0;
}

size_t terminal_frames_waiting(const struct terminal_frames *f)
{
    return f->buf.len - f->at;
}

static void drop_taken(struct terminal_frames *f)
{
    size_t left = terminal_frames_waiting(f), taken = f->at;
    if (taken == 0)
        return;
    memmove(f->buf.s, f->buf.s + taken, left);
    explicit_bzero(f->buf.s + left, taken);
    strbuf_cut(&f->buf, left);
    f->at = 0;
}

void terminal_frames_feed(struct terminal_frames *f, const void *bytes, size_t n)
{
    drop_taken(f);
    strbuf_add(&f->buf, bytes, n);
}

static const struct frame_rule *kind_of(const struct terminal_frames *f, unsigned char letter)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if ((unsigned char)kinds[i].kind == letter &&
            (f->of_daemon ? kinds[i].of_daemon : kinds[i].of_client))
            return &kinds[i];
    return NULL;
}

int terminal_frames_next(struct terminal_frames *f, struct terminal_frame *out, struct err *e)
{
    if (terminal_frames_waiting(f) < TERMINAL_FRAME_HEADER)
        return 0;
    const unsigned char *p = (const unsigned char *)f->buf.s + f->at;
    const struct frame_rule *k = kind_of(f, p[0]);
    size_t n = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
    if (!k)
        return err_set(e, ERR_BAD_REQUEST, NULL,
                       "a frame of the terminal begins with the byte %u, which is not a kind of "
                       "frame that %s sends",
                       (unsigned)p[0], f->of_daemon ? "the daemon" : "a client");
    if (n < k->min || n > k->max)
        return err_set(e, ERR_BAD_REQUEST, NULL,
                       "a frame '%c' of the terminal has %zu bytes; it has %zu to %zu",
                       (int)k->kind, n, k->min, k->max);
    if (terminal_frames_waiting(f) < TERMINAL_FRAME_HEADER + n)
        return 0;
    *out = (struct terminal_frame){k->kind, p + TERMINAL_FRAME_HEADER, n};
    f->at += TERMINAL_FRAME_HEADER + n;
    return 1;
}

void terminal_frame_add(struct strbuf *out, enum terminal_frame_kind kind, const void *bytes,
                        size_t n)
{
    const unsigned char head[TERMINAL_FRAME_HEADER] = {
        (unsigned char)kind, (unsigned char)(n >> 24), (unsigned char)(n >> 16),
        (unsigned char)(n >> 8), (unsigned char)n};
    assert(n <= TERMINAL_FRAME_MAX);
    strbuf_add(out, head, sizeof head);
    strbuf_add(out, bytes, n);
}
