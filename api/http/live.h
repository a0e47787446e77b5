/* SPDX-License-Identifier: MIT
 *
 * A reply without an end, such as server-sent events. The caller pushes its body in pieces: the
 * next piece when the client has taken the previous one. So for a client that does not read, memory
 * holds only one piece, and the bytes that the system buffers for the socket.
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
/* A new text with one reference, the caller's. Takes over the buffer's memory. */
struct live_text *live_text_new(struct strbuf *b);
void live_text_drop(struct live_text *t); /* t may be NULL */

/* Called on the loop's thread, possibly while the server handles the connection: the functions may
 * record that work is due, but must not call functions of this header. */
struct live_events {
    void (*ready)(void *ctx); /* the client has taken everything */
    /* Called once: the client has disconnected, or the reply has ended. */
    void (*closed)(void *ctx);
};

/* Begins the reply. Takes over the reference to `first`, which is sent with the head. NULL: err,
 * and no events follow; ERR_NOT_SUPPORTED: the request is inside another request. */
struct replied *reply_live(struct request *r, const char *content_type, struct live_text *first,
                           const struct live_events *events, void *ctx, struct live **out,
                           struct err *e) MUST_CHECK;
/* How many live replies the server may have so that enough connections remain for other clients. */
size_t live_most(const struct request *r);
bool live_is_ready(const struct live *l);
/* Sends a text. Call it only if live_is_ready(). Adds its own reference. */
void live_push(struct live *l, struct live_text *t);
/* Ends the reply after the text `last` (NULL: none). If the client has not taken everything, the
 * connection is closed without `last`. closed() is called later. */
void live_end(struct live *l, struct live_text *last);

#endif
