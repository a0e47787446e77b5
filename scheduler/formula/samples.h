/* SPDX-License-Identifier: MIT
 *
 * The history of a pool's metrics: a sample each period; at most the latest SAMPLES_MOST are kept.
 * The value of a metric that is absent from a sample is NaN.
 */
#ifndef SCHEDULER_FORMULA_SAMPLES_H
#define SCHEDULER_FORMULA_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/* Names in formulas. The storage keeps a sample's values in this order. */
#define SAMPLE_METRICS(X)                                                                          \
    X(SAMPLE_CPU_PERCENT, "$CPUPercent")                                                           \
    X(SAMPLE_WALL_CLOCK_SECONDS, "$WallClockSeconds")                                              \
    X(SAMPLE_MEMORY_BYTES, "$MemoryBytes")                                                         \
    X(SAMPLE_DISK_BYTES, "$DiskBytes")                                                             \
    X(SAMPLE_DISK_READ_BYTES, "$DiskReadBytes")                                                    \
    X(SAMPLE_DISK_WRITE_BYTES, "$DiskWriteBytes")                                                  \
    X(SAMPLE_DISK_READ_OPS, "$DiskReadOps")                                                        \
    X(SAMPLE_DISK_WRITE_OPS, "$DiskWriteOps")                                                      \
    X(SAMPLE_NETWORK_IN_BYTES, "$NetworkInBytes")                                                  \
    X(SAMPLE_NETWORK_OUT_BYTES, "$NetworkOutBytes")                                                \
    X(SAMPLE_NODE_COUNT, "$SampleNodeCount")                                                       \
    X(SAMPLE_ACTIVE_TASKS, "$ActiveTasks")                                                         \
    X(SAMPLE_RUNNING_TASKS, "$RunningTasks")                                                       \
    X(SAMPLE_PENDING_TASKS, "$PendingTasks")                                                       \
    X(SAMPLE_SUCCEEDED_TASKS, "$SucceededTasks")                                                   \
    X(SAMPLE_FAILED_TASKS, "$FailedTasks")                                                         \
    X(SAMPLE_CURRENT_DEDICATED, "$CurrentDedicatedNodes")                                          \
    X(SAMPLE_CURRENT_LOW_PRIORITY, "$CurrentLowPriorityNodes")                                     \
    X(SAMPLE_PREEMPTED, "$PreemptedNodeCount")                                                     \
    X(SAMPLE_USABLE, "$UsableNodeCount")

#define SAMPLE_ENUM(symbol, name) symbol,
enum sample_metric { SAMPLE_METRICS(SAMPLE_ENUM) SAMPLE_METRIC_COUNT };
#undef SAMPLE_ENUM
/* The first metrics come from the nodes' machines; the others are known without asking nodes. */
#define SAMPLE_MACHINE_COUNT SAMPLE_NODE_COUNT

enum {
    SAMPLES_PERIOD_S = 30, /* the period of the real service */
    SAMPLES_MOST = 2880,   /* the samples of a day */
};

const char *sample_metric_name(enum sample_metric m);

struct samples;

struct samples *samples_create(void);
void samples_destroy(struct samples *s); /* NULL is allowed */

/* Adds a sample; the oldest is dropped if there are too many. A sample that is not later than the
 * last one is dropped, because the clock was set back. */
void samples_add(struct samples *s, int64_t at_us, const double values[SAMPLE_METRIC_COUNT]);

size_t samples_count(const struct samples *s); /* `s` may be NULL here and below: no samples */
int64_t samples_at(const struct samples *s, size_t i);                         /* oldest first */
double samples_value(const struct samples *s, size_t i, enum sample_metric m); /* NaN: absent */

#endif
