/* SPDX-License-Identifier: MIT
 *
 * A reply without an end, such as server-sent events: its body is pushed in pieces. The user pushes
 * the next piece when the client has taken the previous one. So a client that does not read costs
 * one piece, and the bytes that the system keeps for its socket.
 *
 *   reply_live() -> ready <-> pushed -> ... -> closed
 */
#ifndef API_HTTP_LIVE_H
#define API_HTTP_LIVE_H

#include "api/http/request.h"

struct live;

/* A text that many replies may send; freed with its last reference. */
struct live_text {
    size_t refs, n;
    char *bytes;
};
/* With one reference, the caller's; takes over the buffer's text. */
struct live_text *live_text_new(struct strbuf *b);
void live_text_drop(struct live_text *t); /* NULL: nothing */

/* Called on the loop, perhaps inside the server's work: a callback may note that something is due,
 * but must call no function of this header. */
struct live_events {
    void (*ready)(void *ctx); /* the client has taken everything */
    /* Once: the client has left, or the reply has ended. */
    void (*closed)(void *ctx);
};

/* Takes the reference to `first`, which is sent with the head. ERR_NOT_SUPPORTED: the request came
 * inside another; then NULL, without events. */
struct replied *reply_live(struct request *r, const char *content_type, struct live_text *first,
                           const struct live_events *events, void *ctx, struct live **out,
                           struct err *e) MUST_CHECK;
/* How many of its kind the server can have without keeping other clients out. */
size_t live_most(const struct request *r);
bool live_is_ready(const struct live *l);
/* Call only if it is ready. Makes its own reference. */
void live_push(struct live *l, struct live_text *t);
/* Ends the reply after `last` (NULL: nothing). A client that has not taken everything is cut off.
 * The event follows. */
void live_end(struct live *l, struct live_text *last);

#endif
