/* SPDX-License-Identifier: MIT
 *
 * What a client or the daemon says in a terminal: the first byte chooses the speaker, the second
 * the size of the pieces in which the rest comes. Frames that are read are written again, and are
 * then the same bytes. And the same bytes as a TLS client's first message.
 */
#include <string.h>

#include "api/http/hello.h"
#include "lib/terminal_frames.h"
#include "test/fuzz/fuzz.h"

#define ENDS 2

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n < ENDS)
        return 0;
    struct terminal_frames f = {.of_daemon = data[0] & 1};
    struct terminal_frame got;
    struct strbuf again = STRBUF_INIT;
    struct err e;
    size_t piece = data[1] ? data[1] : 1, taken = 0;
    const uint8_t *rest = data + ENDS;
    int rc = 0;
    n -= ENDS;
    (void)hello_offers(rest, n, "batchaid-terminal/1");
    for (size_t at = 0; at < n && rc >= 0; at += piece) {
        terminal_frames_feed(&f, rest + at, n - at < piece ? n - at : piece);
        while ((rc = terminal_frames_next(&f, &got, &e)) > 0) {
            CLAIM(got.n <= TERMINAL_FRAME_MAX);
            terminal_frame_add(&again, got.kind, got.bytes, got.n);
            taken += TERMINAL_FRAME_HEADER + got.n;
        }
    }
    tell("frames", rc, e.msg);
    CLAIM(rc >= 0 || e.msg[0]);
    CLAIM(again.len == taken && taken <= n);
    CLAIM(taken == 0 || memcmp(again.s, rest, taken) == 0);
    terminal_frames_free(&f);
    strbuf_free(&again);
    return 0;
}
