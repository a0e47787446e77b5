/* SPDX-License-Identifier: MIT
 *
 * The requests that are over, the latest of them: at most SEEN_MAX, and SEEN_BYTES of texts.
 */
#ifndef API_TESTING_LOG_H
#define API_TESTING_LOG_H

#include "api/testing/select.h"
#include "api/testing/unserved_calls.h"

#define SEEN_MAX      10000
#define SEEN_BYTES    (32U * 1024 * 1024)
#define SEEN_BODY_MAX (64U * 1024) /* a longer text is not kept */

/* What many requests have in common. */
struct seen_kind {
    const char *method, *operation, *service, *subscription, *by; /* NULL: none */
    const char *query; /* of the target, from its '?' on; "" if it has none */
    int64_t fault;     /* the number of that which hit it; 0: none */
};

/* A request that is over, in one piece of memory. */
struct seen {
    const struct seen_kind *kind; /* a reference of its own */
    int64_t time_us, took_us;
    unsigned asked, answered; /* where in `texts` they begin, JSON without secrets; 0: none, or too
                                 long */
    short status;
    char texts[]; /* the target up to its '?', then those */
};

/* Who waits for `count` requests that fit. */
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
    struct seen **ring; /* NULL: it was dropped; numbers go by places */
    struct seen_kinds *kinds;
    size_t first, n, bytes;
    int64_t last; /* the number of the latest, from 1 */
    struct unknown unknown;
    struct expecting *waiting;
};

/* What is to be noted of a request; the texts are copied. */
struct seeing {
    struct seen_kind kind; /* but `query` */
    const char *target, *asked, *answered;
    int64_t time_us, took_us;
    int status;
};

void seen_add(struct testing_log *log, const struct seeing *what);
void seen_drop_oldest(struct testing_log *log);
/* Those in a subscription; NULL: all. */
void seen_drop(struct testing_log *log, const char *subscription);
/* Whether number `number`, which is in the log, fits. */
bool seen_fits(const struct testing_log *log, int64_t number, const struct selector *match);
/* Those behind number `after` that fit, at most `max`; new reference. */
json_t *seen_fitting(const struct testing_log *log, const struct selector *match, int64_t after,
                     size_t max);
/* expect.c: shows the latest to those who wait. */
void expecting_hear(struct testing_log *log);

/* request_dedup.c: each kind of request once, as long as there are references to it. */
struct seen_kinds *seen_kinds_create(void);
void seen_kinds_free(struct seen_kinds *all); /* no references are left; NULL is allowed */
/* A reference to the kind that has the same texts as this one. */
const struct seen_kind *seen_kind_take(struct seen_kinds *all, const struct seen_kind *like);
void seen_kind_release(struct seen_kinds *all, const struct seen_kind *kind);
size_t seen_kind_bytes(const struct seen_kind *kind);

/* Replaces the texts of properties that may be secrets. */
void mask_secrets(json_t *o);

#endif
