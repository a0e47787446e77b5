/* SPDX-License-Identifier: MIT
 *
 * The record of use: which parts of nodes runs had, and how much of them they used. Times are whole
 * milliseconds, because sums of integers are exact. For a period of time, each quantity counts with
 * the part that grew during the period, so that the parts of adjacent periods add up to the whole.
 */
#ifndef MODEL_USAGE_H
#define MODEL_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/enums.h"

#define USAGE_DAY_MS INT64_C(86400000)
/* The largest value of a sum, so that sums of sums do not overflow. */
#define USAGE_MOST        (INT64_C(1) << 60)
#define USAGE_MEMORY_MOST (INT64_C(1) << 50) /* bytes */
#define USAGE_GPU_UNIT    1000 /* GPUs are counted in thousandths, because tasks share them */

/* The resources that processes used, as far as their node measured them. */
struct usage_measured {
    bool known; /* false: nothing was measured, and all members are 0 */
    int64_t user_us, kernel_us;
    int64_t memory_peak; /* bytes; includes the page cache if the node's measure does */
    int64_t memory_used; /* bytes: the highest sample without page cache; 0: not sampled */
    int64_t read_bytes, write_bytes, read_ops, write_ops; /* transfers of disks */
};

/* The owner and the place of use. They are texts, because the record remains after the named
 * resources were removed. "": there is no such resource. */
struct usage_subject {
    int64_t id;
    const char *owner; /* the owner's object id */
    const char *subscription, *group;
    const char *home;       /* the workspace, or the account of Azure Batch */
    const char *experiment; /* the experiment, or the job of Azure Batch */
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
    const char *name; /* the name of the job or task */
    const char *node_name;
    const char *machine;      /* the node's machine; NULL: a local node */
    int64_t begin_ms, end_ms; /* end >= begin, even if the clock was set back */
    int gpus;                 /* in units of USAGE_GPU_UNIT */
    int slots, cores;
    int64_t memory;
    bool again;               /* its run was requeued, so its GPU time counts as lost */
    int64_t wait_ms;          /* how long the run waited for this attempt; 0 unless rank is 0 */
    int64_t busy_ms, idle_ms; /* GPU time in which samples showed that the GPUs worked, or did not;
                                 the rest is unknown */
    struct usage_measured used;
};

/* An allocation that has not ended or is ending now, with its subject. */
struct usage_live {
    struct usage_subject subject;
    int64_t pool_id; /* the node's pool; not in the record */
    struct usage row;
};

/* Sums over allocations; memory_peak is the maximum. */
struct usage_sums {
    int64_t runs;     /* runs that ended and were not requeued */
    int64_t attempts; /* attempts of runs that ended */
    int64_t node_ms, core_ms, gpu_ms;
    int64_t busy_ms, idle_ms, lost_ms; /* parts of gpu_ms */
    int64_t wait_ms;
    int64_t user_us, kernel_us, read_bytes, write_bytes;
    int64_t unmeasured; /* ended allocations whose use no node measured */
    int64_t memory_peak;
};

struct usage_total {
    struct usage_subject subject;
    struct usage_sums sums;
};

/* Sets the busy and idle GPU time of `u` from samples: its GPUs were busy for busy_us and idle for
 * idle_us on average. */
void usage_sampled(struct usage *u, int64_t busy_us, int64_t idle_us);
/* Limits measured values to possible ones, because machines, which are not trusted, report them. */
void usage_believe(struct usage *u);
/* Returns the GPU time of `u` in milliseconds: its duration times its number of GPUs. */
int64_t usage_gpu_ms(const struct usage *u);
/* Adds the part of `u` in the period [from_ms, to_ms). Values that do not grow with time, such as
 * the number of attempts, count if the end of `u` is in the period. `open`: u has not ended, so
 * these values do not count yet, and end_ms is the present. */
void usage_add_cut(struct usage_sums *to, const struct usage *u, bool open, int64_t from_ms,
                   int64_t to_ms);
void usage_add(struct usage_sums *to, const struct usage_sums *more);
/* Adds what another process of the same run on the same node used. */
void usage_measured_add(struct usage_measured *to, const struct usage_measured *more);
/* The number of the day (UTC) of an instant, since 1970. */
int64_t usage_day(int64_t ms);

#endif
