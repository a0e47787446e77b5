/* SPDX-License-Identifier: MIT
 *
 * Whether requests are served to the end, and how the daemon fares, for those who start it and
 * those who watch it. Both are open to all, as who probes cannot log in: they tell what is wrong
 * in general, and numbers only to those who show a token. docs/admin-api.md describes them.
 */
#ifndef API_ADMIN_HEALTH_H
#define API_ADMIN_HEALTH_H

#include "api/http/request.h"

struct fleet;
struct storage;

/* What keeps a daemon that takes requests from being ready. */
struct readiness {
    bool seeding;  /* it is being filled */
    bool stopping; /* it ends */
};

struct daemon_health {
    struct storage *storage;
    struct fleet *fleet;
    const char *state_dir;
    const struct readiness *readiness;
    int64_t begun_us; /* monotonic, as are the instants of `loop` */
    struct loop *loop;
};

extern const struct service health_service;
struct error_words health_words(int kind);

static inline const struct daemon_health *health_of(const struct request *r)
{
    return r->deps;
}

/* --- what is found, and what follows from it (health_judge.c)
 * -----------------------------------------
 */

#define HEALTH_DISK_LOW                                                                            \
    INT64_C(33554432) /* bytes: a database of this program needs that to go on */
#define HEALTH_LAG_HIGH_US INT64_C(1000000)

struct health_facts {
    struct err database;           /* code ERR_NONE: a write to it is on disk */
    struct err disk;               /* likewise: how full it is is known */
    int64_t disk_free, disk_total; /* bytes, of the state directory's file system */
    struct err nodes_unknown;      /* likewise: they could be counted */
    int nodes, nodes_unusable;     /* local ones and machines */
    int64_t lag_us;                /* how long the loop took until it came back to a request */
    int64_t slow, longest_us;      /* of handlers since the start */
    int64_t up_us;
};

/* Whether all is well. Appends to `list`, an array or NULL, the names of the parts that are not. */
bool health_judge(const struct health_facts *f, json_t *list);
/* All of it; new reference. */
json_t *health_render(const struct health_facts *f);

#endif
