/* SPDX-License-Identifier: MIT
 *
 * Somebody who watches requests, for tests: hears of each that is over, and may have it answered
 * otherwise than its handler would, later, or only in part.
 */
#ifndef API_HTTP_TEST_HOOKS_H
#define API_HTTP_TEST_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct request;

/* What becomes of a request besides what it asks for, in this order. */
struct injected {
    int64_t delay_ms; /* before it is carried out */
    bool held;        /* likewise, until watch_let_go() */
    int status;       /* its answer, instead of its being carried out; 0: none */
    const char *code, *message;
    int retry_after_s; /* of that answer; 0: no header */
    /* The connection ends in the body of the answer; cut_before: nothing was carried out. */
    bool cut, cut_before;
    void *ctx; /* the watcher's */
};

struct api_watch {
    /* Once the head of a request was accepted. NULL: nothing. What it returns lives as long as the
     * request. */
    const struct injected *(*begin)(void *ctx, struct request *r);
    /* Adds headers to its reply; NULL: none. */
    void (*headers)(void *ctx, struct request *r);
    /* When it is over: answered, or the client has gone. */
    void (*end)(void *ctx, const struct request *r);
    void *ctx;
};

/* For headers(): adds one, in the place of one of that name that was added before. `value` lives as
 * long as the request. */
void reply_header_instead(struct request *r, const char *name, const char *value);
/* Carries on with a request that is held. */
void watch_let_go(struct request *r);

#endif
