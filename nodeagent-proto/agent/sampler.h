/* SPDX-License-Identifier: MIT
 *
 * Samples of the machine, taken when the daemon asks. Rates and pressure cover the time since the
 * previous sample, so the first sample has none.
 */
#ifndef NODEAGENT_PROTO_AGENT_SAMPLER_H
#define NODEAGENT_PROTO_AGENT_SAMPLER_H

#include "nodeagent-proto/agent/gpu_watch.h"
#include "nodeagent-proto/wire/task.h"

#define SAMPLER_STALLS 3 /* cpu, memory, io */

struct sampler_counts {
    int64_t at_us; /* monotonic; 0: there is no previous sample */
    struct node_usage usage;
    int64_t stalled_us[SAMPLER_STALLS]; /* SAMPLE_UNKNOWN: the kernel does not count this */
};

struct sampler {
    struct sampler_counts before;
    struct gpu_watch gpus;
};

/* `list`: the node's GPUs, from gpus_list(). `watch` true: an nvidia-smi process that keeps running
 * samples the GPUs; false: that process is stopped. out->gpus must have room for SAMPLE_GPUS. */
void sampler_take(struct sampler *s, const char *root, const char *list, bool watch,
                  struct node_sample *out);
void sampler_close(struct sampler *s);

/* The functions below are parts of sampler_take(). sampler_read_stall() returns 123 for the text
 * "some avg10=0.00 ... total=123\nfull ...". */
int64_t sampler_read_stall(const char *text);
void sampler_compare(const struct sampler_counts *before, const struct sampler_counts *now,
                     struct node_sample *out);
/* Adds the GPUs of `list`, then other GPUs that nvidia-smi reports. `drm`: /sys/class/drm. */
void sampler_add_gpus(const struct gpu_watch *w, const char *list, const char *drm,
                      struct node_sample *out);

#endif
