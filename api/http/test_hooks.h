/* SPDX-License-Identifier: MIT
 *
 * A watcher of requests, for tests: it is called for each request, and may delay it, replace its
 * reply, or break the reply off.
 */
#ifndef API_HTTP_TEST_HOOKS_H
#define API_HTTP_TEST_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct request;

/* Changes to a request's reply, applied in this order. */
struct injected {
    int64_t delay_ms; /* delay before the handler is called */
    bool held;        /* the handler is called after watch_let_go() */
    int status;       /* reply with this status, without the handler; 0: do not */
    const char *code, *message;
    int retry_after_s; /* Retry-After of that reply; 0: no header */
    /* cut: the connection is closed in the middle of the reply's body; cut_before: also without
     * calling the handler. */
    bool cut, cut_before;
    void *ctx; /* the watcher's */
};

struct api_watch {
    /* Called after the head of a request was accepted. Returns the changes, which must be valid as
     * long as the request; NULL: no changes. */
    const struct injected *(*begin)(void *ctx, struct request *r);
    /* Adds headers to the reply. The function may be NULL. */
    void (*headers)(void *ctx, struct request *r);
    /* Called at the end of the request: the reply was sent, or the client has disconnected. */
    void (*end)(void *ctx, const struct request *r);
    void *ctx;
};

/* Continues a request that injected.held has stopped. */
void watch_let_go(struct request *r);

#endif
