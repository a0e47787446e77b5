/* SPDX-License-Identifier: MIT
 *
 * The log of finished requests: the latest SEEN_MAX of them, with at most SEEN_BYTES of texts.
 */
#ifndef API_TESTING_LOG_H
#define API_TESTING_LOG_H

#include "api/testing/select.h"
#include "api/testing/unserved_calls.h"

#define SEEN_MAX      10000
#define SEEN_BYTES    (32U * 1024 * 1024)
#define SEEN_BODY_MAX (64U * 1024) /* bytes; a longer text is not kept */

/* Texts that many requests have in common, stored once. */
struct seen_kind {
    const char *method, *operation, *service, *subscription, *by; /* NULL: none */
    const char *query; /* the target from its '?' on; "": no query */
    int64_t fault;     /* the number of the fault that hit the request; 0: none */
};

/* A finished request, in one block of memory. */
struct seen {
    const struct seen_kind *kind; /* this request holds one reference to it */
    int64_t time_us, took_us;
    /* offsets in `texts` of the bodies of request and reply, as JSON without secrets; 0: no body,
     * or too long */
    unsigned asked, answered;
    short status;
    char texts[]; /* the target up to its '?', then the bodies */
};

/* A client that waits for `count` matching requests. */
struct expecting {
    struct request *r;
    struct selector match;
    int64_t after;
    int count, seen;
    double timeout_s;
    struct expecting **prev, *next;
    uv_timer_t *timer; /* owned */
    struct testing_log *log;
};

struct testing_log {
    uv_loop_t *loop;
    /* the index follows from the request's number; an element is NULL if it was dropped */
    struct seen **ring;
    struct seen_kinds *kinds;
    size_t first, n, bytes;
    int64_t last; /* the number of the latest request, from 1 */
    struct unknown unknown;
    struct expecting *waiting;
};

/* What the log stores of a request; the texts are copied. */
struct seeing {
    struct seen_kind kind; /* all but `query` */
    const char *target, *asked, *answered;
    int64_t time_us, took_us;
    int status;
};

void seen_add(struct testing_log *log, const struct seeing *what);
void seen_drop_oldest(struct testing_log *log);
/* Drops the requests in a subscription; NULL: all. */
void seen_drop(struct testing_log *log, const char *subscription);
/* Whether request `number` matches. It must be in the log. */
bool seen_fits(const struct testing_log *log, int64_t number, const struct selector *match);
/* Renders at most `max` matching requests with numbers above `after`; a new reference. */
json_t *seen_fitting(const struct testing_log *log, const struct selector *match, int64_t after,
                     size_t max);
/* expect.c: compares the latest request with what each waiting client expects. */
void expecting_hear(struct testing_log *log);

/* request_dedup.c: keeps one copy of each kind of request while there are references to it. */
struct seen_kinds *seen_kinds_create(void);
void seen_kinds_free(struct seen_kinds *all); /* no references may be left; `all` may be NULL */
/* Takes a reference to the kind with the texts of `like`; creates the kind if needed. */
const struct seen_kind *seen_kind_take(struct seen_kinds *all, const struct seen_kind *like);
void seen_kind_release(struct seen_kinds *all, const struct seen_kind *kind);
size_t seen_kind_bytes(const struct seen_kind *kind);

/* Masks the texts of properties that may be secrets. */
void mask_secrets(json_t *o);

#endif
