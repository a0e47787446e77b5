/* SPDX-License-Identifier: MIT
 *
 * The requests that are over, the latest of them: at most SEEN_MAX, and SEEN_BYTES of texts.
 */
#ifndef API_TESTING_LOG_H
#define API_TESTING_LOG_H

#include "api/testing/select.h"

#define SEEN_MAX      10000
#define SEEN_BYTES    (32U * 1024 * 1024)
#define SEEN_BODY_MAX (64U * 1024) /* a longer text is not kept */
#define UNKNOWN_MAX   1000

/* A request that is over. */
struct seen {
    int64_t number; /* from 1 */
    int64_t time_us, took_us;
    char *method, *target, *operation, *service, *subscription, *by; /* owned; NULL: none */
    char *asked, *answered; /* JSON texts without secrets; NULL: none, or too long */
    int status;
    int64_t fault; /* the number of that which hit it; 0: none */
    size_t bytes;
};

/* Who waits for `count` requests that fit. */
struct expecting {
    struct request *r;
    struct selector match;
    int64_t after;
    int count, seen;
    struct expecting **prev, *next;
    uv_timer_t *timer; /* owned */
    struct testing_log *log;
};

struct testing_log {
    uv_loop_t *loop;
    struct seen *ring;
    size_t first, n, bytes;
    int64_t last; /* number */
    struct {
        char *method, *target;
        int64_t count;
    } * unknown;
    size_t n_unknown;
    int64_t more_unknown; /* of paths that are not in the list */
    struct expecting *waiting;
};

struct seen *seen_at(const struct testing_log *log, size_t i); /* 0: the oldest */
void seen_drop_oldest(struct testing_log *log);
struct told told_seen(const struct seen *s);
json_t *seen_render(const struct seen *s);
/* Those behind number `after` that fit, at most `max`; new reference. */
json_t *seen_fitting(const struct testing_log *log, const struct selector *match, int64_t after,
                     size_t max);
/* expect.c: looks at who waits. */
void expecting_hear(struct testing_log *log, const struct seen *s);

#endif
