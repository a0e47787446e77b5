/* SPDX-License-Identifier: MIT
 *
 * A connection that changes from HTTP to another protocol, with the reply 101: then both sides send
 * bytes, over TLS as before. Received bytes are read at once: the protocol and the caller must
 * limit them. For a limit of sent bytes the caller uses upgraded_waiting().
 *
 *   reply_upgrade() -> (the reply is sent) -> open -> closed
 */
#ifndef API_HTTP_UPGRADE_H
#define API_HTTP_UPGRADE_H

#include "api/http/request.h"
#include "lib/terminal_frames.h"

/* The protocol in the header Upgrade of such requests. Over TLS the client also offers it by ALPN
 * (relay.h). */
#define UPGRADE_PROTOCOL TERMINAL_PROTOCOL

#define UPGRADED_READ_MAX 32768U /* most bytes of one got() */

struct upgraded;

/* Called from the loop, never from inside a function of this header. */
struct upgraded_events {
    void (*got)(void *ctx, const char *bytes, size_t n);
    void (*drained)(void *ctx); /* all bytes of upgraded_send() were given to the system */
    /* The client has disconnected (possibly before the reply), or the daemon stops. The connection
     * no longer exists. */
    void (*closed)(void *ctx);
};

/* Whether the request asks for the upgrade, on a connection that supports it. */
bool request_may_upgrade(const struct request *r);
/* Replies with 101. upgraded_send() may be called at once; its bytes are sent after the reply. */
struct replied *reply_upgrade(struct request *r, const struct upgraded_events *events, void *ctx,
                              struct upgraded **out) MUST_CHECK;
void upgraded_send(struct upgraded *u, const void *bytes, size_t n);
size_t upgraded_waiting(const struct upgraded *u);
/* Closes the connection at once and drops bytes that were not sent yet; no event is called
 * afterwards. */
void upgraded_close(struct upgraded *u);

#endif
