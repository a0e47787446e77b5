/* SPDX-License-Identifier: MIT
 *
 * A watcher of requests, for tests: sees each finished request, and may replace its reply, delay
 * it, or cut it off.
 */
#ifndef API_HTTP_TEST_HOOKS_H
#define API_HTTP_TEST_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct request;

/* Changes to a request's reply, applied in this order. */
struct injected {
    int64_t delay_ms; /* before it is carried out */
    bool held;        /* before it is carried out: waits until watch_let_go() */
    int status;       /* replies with this status instead of calling the handler; 0: does not */
    const char *code, *message;
    int retry_after_s; /* of that reply; 0: no header */
    /* Closes the connection in the body of the reply; cut_before: without calling the handler. */
    bool cut, cut_before;
    void *ctx; /* the watcher's */
};

struct api_watch {
    /* Called after the head of a request was accepted. NULL: no changes. The returned value must
     * live as long as the request. */
    const struct injected *(*begin)(void *ctx, struct request *r);
    /* Adds headers to the reply; NULL: none. */
    void (*headers)(void *ctx, struct request *r);
    /* Called at the end of the request: it was answered, or the client has disconnected. */
    void (*end)(void *ctx, const struct request *r);
    void *ctx;
};

/* Continues a held request. */
void watch_let_go(struct request *r);

#endif
