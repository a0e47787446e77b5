/* SPDX-License-Identifier: MIT
 *
 * Readiness and health of the daemon, for service managers and monitoring. Both need no login,
 * because a probe cannot log in: without a token a caller gets only general words about problems,
 * with a token also numbers. docs/admin-api.md describes them.
 */
#ifndef API_ADMIN_HEALTH_H
#define API_ADMIN_HEALTH_H

#include <assert.h>

#include "api/http/request.h"
#include "api/http/service.h"

struct fleet;
struct storage;

/* Conditions that make a running daemon not ready. */
struct daemon_readiness {
    bool seeding;  /* a seed (a saved state) is being read */
    bool stopping; /* the daemon is stopping */
};

struct daemon_health {
    struct storage *storage;
    struct fleet *fleet;
    const char *state_dir;
    const struct daemon_readiness *readiness;
    int64_t begun_us; /* monotonic, like all instants of `loop` */
    struct loop *loop;
};

extern const struct service health_service;
struct error_words health_words(int kind);

static inline const struct daemon_health *health_of(const struct request *r)
{
    assert(service_deps_are(r->service, "daemon_health"));
    return r->deps;
}

/* --- measurements, and which are unhealthy (health_judge.c) --- */

/* free bytes below which the disk is unhealthy */
#define HEALTH_DISK_LOW    INT64_C(33554432)
#define HEALTH_LAG_HIGH_US INT64_C(1000000)

struct health_facts {
    struct err database;           /* code ERR_NONE: a test write is on disk */
    struct err disk;               /* code ERR_NONE: the free space is known */
    int64_t disk_free, disk_total; /* bytes, of the state directory's file system */
    struct err nodes_unknown;      /* code ERR_NONE: the nodes could be counted */
    int nodes, nodes_unusable;     /* local nodes and machines */
    int64_t lag_us;                /* how late the loop served the request */
    /* how many handlers since the start were slow; the longest time of a handler, in
     * microseconds */
    int64_t slow, longest_us;
    int64_t up_us;
};

/* Whether all parts are healthy. Appends the names of the others to `list` (an array or NULL). */
bool health_judge(const struct health_facts *f, json_t *list);
/* The whole report; new reference. */
json_t *health_render(const struct health_facts *f);

#endif
