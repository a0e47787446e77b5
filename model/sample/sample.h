/* SPDX-License-Identifier: MIT
 *
 * A sample of a machine: the activity of the machine and its GPUs in the seconds before, and their
 * present state. Plain values of one table, which the wire, the history and the API share. A value
 * that nobody could read is unknown, never 0.
 */
#ifndef MODEL_SAMPLE_SAMPLE_H
#define MODEL_SAMPLE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_UNKNOWN     INT64_C(-1)
#define SAMPLE_EVERY_S     15
#define SAMPLE_GPUS        64 /* of a node, at most */
#define SAMPLE_UUID_SIZE   64
#define SAMPLE_PROCESSES   16 /* of a GPU, at most */
#define SAMPLE_WHY_SIZE    200
#define SAMPLE_BUSY_FROM   10 /* permille: a GPU that does less is idle */
#define SAMPLE_BYTES_MOST  (INT64_C(1) << 60)
#define SAMPLE_COUNT_MOST  (INT64_C(1) << 48)
#define SAMPLE_PERMILLE    1000
#define SAMPLE_POWER_MOST  100000000 /* mW */
#define SAMPLE_DEGREE_MOST 1000

/* X(member, name in JSON, the largest value that is believed). Rates are bytes a second. Pressure:
 * the part of the time in which some process waited (PSI). */
#define SAMPLE_NODE_VALUES(X)                                                                      \
    X(cpu_permille, "cpuPermille", SAMPLE_PERMILLE)                                                \
    X(memory_used, "memoryUsedBytes", SAMPLE_BYTES_MOST)                                           \
    X(memory_total, "memoryBytes", SAMPLE_BYTES_MOST)                                              \
    X(disk_free, "diskFreeBytes", SAMPLE_BYTES_MOST)                                               \
    X(disk_total, "diskBytes", SAMPLE_BYTES_MOST)                                                  \
    X(disk_read, "diskReadBytesPerSecond", SAMPLE_COUNT_MOST)                                      \
    X(disk_written, "diskWrittenBytesPerSecond", SAMPLE_COUNT_MOST)                                \
    X(network_in, "networkInBytesPerSecond", SAMPLE_COUNT_MOST)                                    \
    X(network_out, "networkOutBytesPerSecond", SAMPLE_COUNT_MOST)                                  \
    X(pressure_cpu, "cpuPressurePermille", SAMPLE_PERMILLE)                                        \
    X(pressure_memory, "memoryPressurePermille", SAMPLE_PERMILLE)                                  \
    X(pressure_io, "ioPressurePermille", SAMPLE_PERMILLE)

/* ecc_errors: uncorrected, since the driver was loaded. throttle: the bits of NVML's
 * nvmlClocksEventReasons; 1 is an idle GPU. */
#define SAMPLE_GPU_VALUES(X)                                                                       \
    X(busy_permille, "busyPermille", SAMPLE_PERMILLE)                                              \
    X(memory_used, "memoryUsedBytes", SAMPLE_BYTES_MOST)                                           \
    X(memory_total, "memoryBytes", SAMPLE_BYTES_MOST)                                              \
    X(power_mw, "powerMilliwatts", SAMPLE_POWER_MOST)                                              \
    X(temperature, "temperatureCelsius", SAMPLE_DEGREE_MOST)                                       \
    X(ecc_errors, "eccErrors", SAMPLE_COUNT_MOST)                                                  \
    X(throttle, "throttleReasons", SAMPLE_COUNT_MOST)                                              \
    X(n_processes, "processes", SAMPLE_COUNT_MOST)

#define SAMPLE_MEMBER(member, name, most) int64_t member;

struct gpu_process {
    int64_t pid, memory; /* bytes; unknown: SAMPLE_UNKNOWN */
};

struct gpu_sample {
    int index;                   /* among the node's GPUs */
    char uuid[SAMPLE_UUID_SIZE]; /* "": it has none */
    SAMPLE_GPU_VALUES(SAMPLE_MEMBER)
    /* The first of n_processes; only in the present sample. */
    int listed;
    struct gpu_process processes[SAMPLE_PROCESSES];
};

struct node_sample {
    int64_t at_us; /* when the daemon got it, by the daemon's wall clock */
    SAMPLE_NODE_VALUES(SAMPLE_MEMBER)
    char why[SAMPLE_WHY_SIZE]; /* why values of GPUs are unknown; "": not known, or none is */
    int n_gpus;
    struct gpu_sample *gpus; /* in the order of their indexes; owned */
};

#undef SAMPLE_MEMBER

/* The activity of a GPU, as far as samples show it. */
enum gpu_state {
    GPU_FREE,    /* no run has it, and it does nothing as far as is known */
    GPU_USED,    /* a run has it; nobody knows whether it works */
    GPU_BUSY,    /* it works, perhaps for nobody's run */
    GPU_IDLE,    /* a run has it, and it does nothing */
    GPU_UNUSABLE /* its node is unusable, or the driver does not show it any more */
};
#define GPU_STATES (GPU_UNUSABLE + 1)
extern const char *const gpu_state_names[GPU_STATES]; /* "free", "used", "busy", ... */

/* All values unknown, no GPUs. */
void sample_clear(struct node_sample *s);
void gpu_sample_clear(struct gpu_sample *g);
/* `to` must be empty or a sample; its earlier content is freed. */
void sample_copy(struct node_sample *to, const struct node_sample *from);
void sample_free(struct node_sample *s);
/* Makes impossible values unknown: samples come from machines, which are not trusted. */
void sample_believe(struct node_sample *s);

/* Whether the GPU worked: 1, did not: 0, or nobody knows: -1. */
int gpu_sample_works(const struct gpu_sample *g);
/* Whether a list such as "0,2" has the number. */
bool gpu_is_among(const char *numbers, int number);
/* The state of a GPU; `last` NULL: it has no recent sample. */
enum gpu_state gpu_state_of(const struct gpu_sample *last, bool taken, bool usable);
/* Whether processes use a GPU that no run has, as far as is known. */
bool gpu_is_used_outside(const struct gpu_sample *last, bool taken);
/* The GPU with this index; NULL: the sample has none, or there is no sample (NULL). */
const struct gpu_sample *sample_gpu(const struct node_sample *s, int index);
/* Whether other GPUs of the node are known and of this nothing is: the driver has lost it. */
bool sample_gpu_is_lost(const struct node_sample *s, const struct gpu_sample *g);

/* Averages of several samples, value by value, over those that know it. GPUs are matched by their
 * indexes. */
struct sample_mean;
struct sample_mean *sample_mean_new(void);
void sample_mean_add(struct sample_mean *m, const struct node_sample *s);
/* The mean, with the instant of the first; 0: nothing was added. Also begins anew. */
int sample_mean_take(struct sample_mean *m, struct node_sample *out);
void sample_mean_free(struct sample_mean *m);

#endif
