/* SPDX-License-Identifier: MIT
 *
 * The record of use: what runs had and used of nodes. Times are milliseconds, because sums of
 * integers are exact. A cut of time gets the part of each quantity that grew during the cut, so
 * that the parts of adjacent cuts add up to the whole.
 */
#ifndef MODEL_USAGE_H
#define MODEL_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/enums.h"

#define USAGE_DAY_MS INT64_C(86400000)
/* The most that a sum becomes, so that sums of sums do not overflow. */
#define USAGE_MOST        (INT64_C(1) << 60)
#define USAGE_MEMORY_MOST (INT64_C(1) << 50) /* bytes */
#define USAGE_GPU_UNIT    1000 /* GPUs are counted in thousandths, because tasks share them */

/* The resources that processes used, as far as their node measured them. */
struct usage_measured {
    bool known; /* false: nothing was measured, and all members are 0 */
    int64_t user_us, kernel_us;
    int64_t memory_peak; /* bytes; includes the page cache if the node's measure does */
    int64_t memory_used; /* bytes: the highest sample without page cache; 0: not sampled */
    int64_t read_bytes, write_bytes, read_ops, write_ops; /* of disks */
};

/* The owner and the place of use: texts, because the record outlives the named resources. "": there
 * is none. */
struct usage_subject {
    int64_t id;
    const char *owner; /* object id */
    const char *subscription, *group;
    const char *home;       /* workspace, or account of Azure Batch */
    const char *experiment; /* or job of Azure Batch */
    const char *pool, *vm_size;
    const char *gpu; /* the model of the node's GPUs */
};

/* An allocation: a run's part of a node. */
struct usage {
    int64_t id, subject_id, run_id;
    int attempt, rank;
    enum resource_kind owner_kind;
    int64_t owner_id;
    int idx;          /* the run's place among the runs of its owner */
    const char *name; /* of the job or task */
    const char *node_name;
    const char *machine;      /* on which the node was; NULL: a local node */
    int64_t begin_ms, end_ms; /* end >= begin, whatever the clock did */
    int gpus;                 /* in units of USAGE_GPU_UNIT */
    int slots, cores;
    int64_t memory;
    bool again;               /* its run was put back into the queue: its GPU time is lost */
    int64_t wait_ms;          /* of the run before this attempt; only rank 0 has it */
    int64_t busy_ms, idle_ms; /* GPU time in which samples saw the GPUs work, or not; the rest is
                                 unknown */
    struct usage_measured used;
};

/* An allocation that has not ended, or ends now, with its subject. */
struct usage_live {
    struct usage_subject subject;
    int64_t pool_id; /* of the node; not in the record */
    struct usage row;
};

/* Sums over allocations. All but memory_peak are additive. */
struct usage_sums {
    int64_t runs;     /* that ended and were not put back */
    int64_t attempts; /* that ended */
    int64_t node_ms, core_ms, gpu_ms;
    int64_t busy_ms, idle_ms, lost_ms; /* of gpu_ms */
    int64_t wait_ms;
    int64_t user_us, kernel_us, read_bytes, write_bytes;
    int64_t unmeasured; /* ended allocations that no node has measured */
    int64_t memory_peak;
};

struct usage_total {
    struct usage_subject subject;
    struct usage_sums sums;
};

/* Samples saw the GPUs of `u` busy for busy_us, and idle for idle_us, averaged over its GPUs. */
void usage_sampled(struct usage *u, int64_t busy_us, int64_t idle_us);
/* Limits measured values to possible ones: they come from machines, which are not trusted. */
void usage_believe(struct usage *u);
/* The whole of u's GPU time. */
int64_t usage_gpu_ms(const struct usage *u);
/* Adds the part of `u` in [from_ms, to_ms). Values with an instant, not a duration, belong to the
 * end. `open`: u has not ended, so it has no such values yet, and end_ms is the present. */
void usage_add_cut(struct usage_sums *to, const struct usage *u, bool open, int64_t from_ms,
                   int64_t to_ms);
void usage_add(struct usage_sums *to, const struct usage_sums *more);
/* Adds another process of the run on this node. */
void usage_measured_add(struct usage_measured *to, const struct usage_measured *more);
/* The number of the day (UTC) of an instant, since 1970. */
int64_t usage_day(int64_t ms);

#endif
