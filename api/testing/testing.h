/* SPDX-License-Identifier: MIT
 *
 * What tests ask of a daemon besides its services, if it was started with --testing: what it was
 * asked (a log of requests), faults, and to be empty again. docs/testing.md describes it for
 * clients.
 *
 * A request is seen by the log, and hit by faults, whoever sent it; those of this room and of
 * logins are not.
 */
#ifndef API_TESTING_TESTING_H
#define API_TESTING_TESTING_H

#include "api/arm/arm.h"
#include "api/http/watch.h"
#include "api/seed/seed.h"
#include "api/testing/clock.h"
#include "api/testing/events.h"
#include "api/testing/rules.h"

struct testing_log;
struct testing_faults;

struct testing {
    struct arm arm;
    const char *key; /* who has it may; NULL: nobody, as the daemon was started without --testing */
    struct testing_log *log;
    struct testing_faults *faults;
    struct testing_events *events;
    struct testing_rules *rules; /* of scripted work */
    struct testing_clock *clock;
    const struct served *services; /* whose operations faults name; borrowed */
    size_t n_services;
    struct seed seed;
};

extern const struct service testing_service;
struct error_words testing_words(int kind);

static inline const struct testing *testing_of(const struct request *r)
{
    return r->deps;
}

/* testing_log_free() after the server has stopped. */
struct testing_log *testing_log_create(uv_loop_t *loop);
void testing_log_free(struct testing_log *log);
/* Answers those that wait for requests to be seen. */
void testing_log_hurry(struct testing_log *log);

/* faults.c */
struct testing_faults *testing_faults_create(void);
void testing_faults_free(struct testing_faults *f);
/* A request is over. */
void testing_faults_forget(struct testing_faults *all, const struct request *r);
/* Removes all, or those that name a subscription. */
void testing_faults_clear(struct testing_faults *all, const char *subscription);

/* For struct api_watch; ctx is a const struct testing *. */
const struct injected *testing_begin(void *ctx, struct request *r);
void testing_end(void *ctx, const struct request *r);

#endif
