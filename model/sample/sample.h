/* SPDX-License-Identifier: MIT
 *
 * A sample of a machine: the activity of the machine and its GPUs in the seconds before, and their
 * present state. The messages of agents, the history and the API all use the one table of values
 * here. A value that could not be read is SAMPLE_UNKNOWN, never 0.
 */
#ifndef MODEL_SAMPLE_SAMPLE_H
#define MODEL_SAMPLE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_UNKNOWN     INT64_C(-1)
#define SAMPLE_EVERY_S     15
#define SAMPLE_GPUS        64 /* the most GPUs of a node */
#define SAMPLE_UUID_SIZE   64
#define SAMPLE_PROCESSES   16 /* the most listed processes of a GPU */
#define SAMPLE_WHY_SIZE    200
#define SAMPLE_BUSY_FROM   10 /* permille: a GPU that is less busy counts as idle */
#define SAMPLE_BYTES_MOST  (INT64_C(1) << 60)
#define SAMPLE_COUNT_MOST  (INT64_C(1) << 48)
#define SAMPLE_PERMILLE    1000
#define SAMPLE_POWER_MOST  100000000 /* mW */
#define SAMPLE_DEGREE_MOST 1000

/* X(member, name in JSON, the largest possible value; a larger one becomes unknown). Rates are in
 * bytes per second. Pressure is the part of the time in which some process waited for the resource
 * (the kernel's PSI). */
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

/* ecc_errors: uncorrected errors since the driver was loaded. throttle: the bits
 * nvmlClocksEventReasons of NVML; the value 1 means only that the GPU is idle. */
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
    /* The first `listed` of the n_processes processes; set only in a node's newest sample. */
    int listed;
    struct gpu_process processes[SAMPLE_PROCESSES];
};

struct node_sample {
    int64_t at_us; /* when the daemon received the sample, by the daemon's wall clock */
    SAMPLE_NODE_VALUES(SAMPLE_MEMBER)
    char why[SAMPLE_WHY_SIZE]; /* why values of GPUs are unknown; "": the reason is not known, or
                                  all values are known */
    int n_gpus;
    struct gpu_sample *gpus; /* in the order of their indexes; owned */
};

#undef SAMPLE_MEMBER

/* The activity of a GPU, as far as samples show it. */
enum gpu_state {
    GPU_FREE,    /* no run has the GPU, and no sample shows that it works */
    GPU_USED,    /* a run has the GPU; whether it works is unknown */
    GPU_BUSY,    /* the GPU works, for a run or for a process outside of runs */
    GPU_IDLE,    /* a run has the GPU, but it does not work */
    GPU_UNUSABLE /* its node is unusable, or the driver does not report the GPU any more */
};
#define GPU_STATES (GPU_UNUSABLE + 1)
extern const char *const gpu_state_names[GPU_STATES]; /* "free", "used", "busy", ... */

/* Set all values to SAMPLE_UNKNOWN; a node's sample then has no GPUs. */
void sample_clear(struct node_sample *s);
void gpu_sample_clear(struct gpu_sample *g);
/* Copies `from` to `to` and frees the earlier content of `to`, which must be zeroed or a sample. */
void sample_copy(struct node_sample *to, const struct node_sample *from);
void sample_free(struct node_sample *s);
/* Sets impossible values to SAMPLE_UNKNOWN, because samples are sent by machines, which are not
 * trusted. */
void sample_believe(struct node_sample *s);

/* Returns 1: the GPU worked; 0: it did not; -1: not known. */
int gpu_sample_works(const struct gpu_sample *g);
/* True: a list such as "0,2" contains the number. */
bool gpu_is_among(const char *numbers, int number);
/* Returns the state of a GPU from its last sample (NULL: there is no recent one). taken: a run has
 * the GPU; usable: its node is usable and the driver reports it. */
enum gpu_state gpu_state_of(const struct gpu_sample *last, bool taken, bool usable);
/* True: the last sample shows that processes use a GPU that no run has. */
bool gpu_is_used_outside(const struct gpu_sample *last, bool taken);
/* The GPU with this index; NULL: the sample does not contain it, or s is NULL. */
const struct gpu_sample *sample_gpu(const struct node_sample *s, int index);
/* True: the driver has lost this GPU: all its values are unknown, but values of another GPU are
 * known. */
bool sample_gpu_is_lost(const struct node_sample *s, const struct gpu_sample *g);

/* Computes averages of several samples. For each value, only the samples in which it is known
 * count. GPUs are matched by their indexes. */
struct sample_mean;
struct sample_mean *sample_mean_new(void);
void sample_mean_add(struct sample_mean *m, const struct node_sample *s);
/* Writes the mean, with the instant of the first sample, to *out and resets *m. Returns the number
 * of samples; 0: none was added. */
int sample_mean_take(struct sample_mean *m, struct node_sample *out);
void sample_mean_free(struct sample_mean *m);

#endif
