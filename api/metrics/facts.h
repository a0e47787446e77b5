/* SPDX-License-Identifier: MIT
 *
 * The values of a page of /metrics, in the request's arena. They are read in several turns of the
 * loop: a machine that leaves its pool meanwhile may be counted in it and beside it, and a node
 * that is replaced meanwhile twice.
 */
#ifndef API_METRICS_FACTS_H
#define API_METRICS_FACTS_H

#include "api/http/http.h"
#include "api/http/request.h"
#include "api/metrics/metrics.h"
#include "scheduler/fleet/fleet.h"
#include "storage/tallies.h"
#include "storage/usage.h"

/* The sums of a group, or of a person. */
struct use_line {
    const char *subscription, *group; /* "": this line is for a person */
    const char *person;               /* object id, later a name; "": this line is for a group */
    struct usage_sums sums;
};
struct use_lines {
    struct use_line *list;
    size_t n;
};

struct pool_names {
    int64_t pool_id;
    struct pool_place place;
};

/* The waiting runs of a pool. */
struct queue_facts {
    int64_t pool_id;
    enum resource_kind kind; /* kind of the pool */
    /* held: runs that cannot start because of dependencies or the limit of their array */
    int64_t waiting, held;
    int64_t oldest; /* the lowest id of a run that is not held; 0: none */
};
struct queue_reading;

/* The daemon's disk and process. has_disk, has_process: whether the system provides the values. */
struct own_facts {
    bool has_disk, has_process;
    int64_t disk_free, disk_size; /* bytes */
    int64_t cpu_us, memory, files, files_max;
    int64_t backed_up_us; /* 0: there was no backup */
};

struct metric_facts {
    const struct metrics *m;
    struct request *r;
    int64_t now_us;
    struct pool_tally *nodes;
    size_t n_nodes;
    struct queue_facts *queues;
    size_t n_queues;
    struct pool_names *pools; /* the names of the pools of nodes and queues, by pool_id */
    size_t n_pools;
    struct machine_tally unclaimed[MACHINE_RESTS];
    struct use_lines groups, people;
    struct own_facts own;
};

/* Collects the facts in several turns of the loop, then calls `done`; e NULL: the facts are
 * complete. */
typedef void facts_done(struct metric_facts *f, const struct err *e);
void facts_collect(struct request *r, facts_done *done);
/* The place of a pool; NULL: the pool does not exist any more. */
const struct pool_place *facts_place(const struct metric_facts *f, int64_t pool_id);

/* queues.c: reads the queues of all pools in the arena, some thousand runs in each call. 1: call
 * again. */
struct queue_reading *queues_begin(struct arena *a, struct storage *st);
int queues_read(struct queue_reading *rd, struct err *e) MUST_CHECK;
void queues_end(const struct queue_reading *rd, struct metric_facts *f);

/* own.c */
void facts_of_own(const struct metrics *m, struct own_facts *out);

#endif
