/* SPDX-License-Identifier: MIT
 *
 * Frames between the daemon and fake nodes. To write a message as JSON and to read it again is a
 * quarter of a history, and the codec has tests and fuzzing of its own: most histories hand the
 * message itself over, its frame saying only which one it is. A history is the same either way
 * (test_sim.py).
 */
#include <jansson.h>
#include <string.h>

#include "lib/arena.h"
#include "nodeagent-proto/wire/codec.h"
#include "test/sim/sim.h"
#include "test/sim/wrap.h"

/* The body of a frame that stands for a message; no JSON begins so. */
struct ticket {
    char mark[4];
    unsigned at; /* in all.messages */
};
static const char mark[4] = "\1sim";

static struct {
    bool handed_over;
    json_t **messages; /* ours */
    unsigned n, cap;
} all;

void sim_frames_begin(bool as_text)
{
    all.handed_over = !as_text;
}

/* Many are lost on their way: what is left of them goes here. */
void sim_frames_end(void)
{
    for (unsigned i = 0; i < all.n; i++)
        json_decref(all.messages[i]);
    all.n = 0;
}

static unsigned keep(json_t *msg)
{
    if (all.n == all.cap) {
        all.cap = all.cap ? 2 * all.cap : 1024;
        all.messages = xrealloc(all.messages, all.cap * sizeof *all.messages);
    }
    all.messages[all.n] = msg;
    return all.n++;
}

WRAP(int, frame_encode, const json_t *msg, struct strbuf *out, struct err *e)
{
    struct ticket t;
    if (!all.handed_over)
        return __real_frame_encode(msg, out, e);
    memcpy(t.mark, mark, sizeof mark);
    t.at = keep(json_incref((json_t *)msg)); /* only read from now on, at both ends */
    const char head[FRAME_HEADER] = {0, 0, 0, sizeof t};
    strbuf_add(out, head, sizeof head);
    strbuf_add(out, &t, sizeof t);
    return 0;
}

WRAP(json_t *, json_loadb, const char *text, size_t n, size_t flags, json_error_t *e)
{
    struct ticket t;
    if (n != sizeof t || memcmp(text, mark, sizeof mark) != 0)
        return __real_json_loadb(text, n, flags, e);
    memcpy(&t, text, sizeof t);
    json_t *msg = all.messages[t.at];
    all.messages[t.at] = NULL;
    return msg;
}
