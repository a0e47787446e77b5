/* SPDX-License-Identifier: MIT
 *
 * The services that a daemon offers to tests if it was started with --testing: a log of requests,
 * faults, and resets. docs/testing.md describes them for clients.
 *
 * The log and the faults cover requests of all clients, but no requests to this service and no
 * logins.
 */
#ifndef API_TESTING_TESTING_H
#define API_TESTING_TESTING_H

#include <assert.h>

#include "api/arm/arm.h"
#include "api/http/service.h"
#include "api/http/test_hooks.h"
#include "api/testing/clock.h"
#include "api/testing/events.h"
#include "api/testing/rules.h"
#include "api/testing/seed/seed.h"
#include "storage/storage.h"

struct pace;
struct testing_log;
struct testing_faults;
struct testing_strict;

struct testing {
    struct arm arm;
    const char *key; /* a client with this key may use the service; NULL: nobody, because --testing
                        was not given */
    struct testing_log *log;
    struct testing_faults *faults;
    struct testing_events *events;
    struct testing_rules *rules; /* of scripted work */
    struct testing_strict *strict;
    struct testing_clock *clock;
    const struct served *services; /* the services whose operations faults can name; borrowed */
    size_t n_services;
    struct seed seed;
};

extern const struct service testing_service;
struct error_words testing_words(int kind);

static inline const struct testing *testing_of(const struct request *r)
{
    assert(service_deps_are(r->service, "testing"));
    return r->deps;
}

/* testing_log_free() after the server has stopped. */
struct testing_log *testing_log_create(uv_loop_t *loop);
void testing_log_free(struct testing_log *log);
/* Replies at once to the clients that wait for an expected request. */
void testing_log_hurry(struct testing_log *log);

/* faults.c, node_faults.c */

/* The parts of the daemon that faults of nodes and allocations use; all borrowed. */
struct fault_ground {
    struct storage *storage;
    struct loop *loop;
    struct fake_nodes *nodes;
    struct sched *sched; /* NULL before the scheduler exists */
};
/* The parts may be set in *testing_faults_ground() until the first request. */
struct testing_faults *testing_faults_create(void);
struct fault_ground *testing_faults_ground(struct testing_faults *f);
/* Call the first when a fake node is reached for the first time, the second when a process of a job
 * begins on a fake node. */
void testing_faults_met(struct testing_faults *all, struct fake_node *node,
                        const struct pool_place *place);
void testing_faults_began(struct testing_faults *all, const struct fake_node *node,
                          const struct pool_place *place, const char *name);
/* For struct sched_gate; ctx is the faults. */
bool testing_faults_shut(void *ctx, struct arena *a, const struct pool *p, const char **error);
void testing_faults_free(struct testing_faults *f);
/* Call at the end of a request, to forget what the faults keep for it. */
void testing_faults_forget(struct testing_faults *all, const struct request *r);
/* Removes all faults, or the faults that name a subscription. */
void testing_faults_clear(struct testing_faults *all, const char *subscription);

/* strict.c; `on`: whether strict mode is on for all subscriptions without a profile. */
struct testing_strict *testing_strict_create(struct storage *st, const struct access *access,
                                             bool on);
void testing_strict_free(struct testing_strict *s);
/* The delays for code that delays operations; returns NULL if `s` is NULL. Lives as long as `s`. */
const struct pace *testing_strict_pace(const struct testing_strict *s);
/* Removes the profile of a subscription and its counts. NULL: of all subscriptions, and restores
 * the general profile of the daemon's start. If it returns true, the caller must call
 * wakes_pace_changed(). */
bool testing_strict_clear(struct testing_strict *s, const char *subscription);

/* reset.c: forgets faults, rules, strict mode and counts of a subscription; NULL: of all
 * subscriptions. ctx is a const struct testing *; does nothing without --testing. */
void testing_forget(const void *ctx, const char *subscription);

/* Functions for struct api_watch; ctx is a const struct testing *. */
const struct injected *testing_begin(void *ctx, struct request *r);
void testing_headers(void *ctx, struct request *r);
void testing_end(void *ctx, const struct request *r);

#endif
