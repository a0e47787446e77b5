/* SPDX-License-Identifier: MIT
 *
 * A connection that leaves HTTP for another protocol, with the reply 101: from then on bytes both
 * ways, over TLS as before. Received bytes are read at once: protocol and user limit them.
 * upgraded_waiting() limits sent bytes.
 *
 *   reply_upgrade() -> (the reply is sent) -> open -> closed
 */
#ifndef API_HTTP_UPGRADE_H
#define API_HTTP_UPGRADE_H

#include "api/http/request.h"
#include "lib/terminal_frames.h"

/* The protocol in the header Upgrade of such connections. Over TLS the client offers it by ALPN too
 * (relay.h). */
#define UPGRADE_PROTOCOL TERMINAL_PROTOCOL

#define UPGRADED_READ_MAX 32768U /* bytes of one got() */

struct upgraded;

/* Called from the loop, never inside a function of this header. */
struct upgraded_events {
    void (*got)(void *ctx, const char *bytes, size_t n);
    void (*drained)(void *ctx); /* all that was sent is on its way */
    /* The client has left, or the daemon stops; also if the client left before the reply. The
     * connection is gone. */
    void (*closed)(void *ctx);
};

/* Whether the request asks for it, on a connection that can do it. */
bool request_may_upgrade(const struct request *r);
/* Replies with 101; bytes may be sent at once, and leave after the reply. */
struct replied *reply_upgrade(struct request *r, const struct upgraded_events *events, void *ctx,
                              struct upgraded **out) MUST_CHECK;
void upgraded_send(struct upgraded *u, const void *bytes, size_t n);
size_t upgraded_waiting(const struct upgraded *u);
/* Closes at once, without bytes that wait to be sent; no event follows. */
void upgraded_close(struct upgraded *u);

#endif
