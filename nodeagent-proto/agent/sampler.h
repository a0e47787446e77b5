/* SPDX-License-Identifier: MIT
 *
 * Samples of the machine, taken when the daemon asks. Rates and pressure are of the time since the
 * sample before, so the first has none.
 */
#ifndef NODEAGENT_PROTO_AGENT_SAMPLER_H
#define NODEAGENT_PROTO_AGENT_SAMPLER_H

#include "nodeagent-proto/agent/gpu_watch.h"
#include "nodeagent-proto/wire/task.h"

#define SAMPLER_STALLS 3 /* cpu, memory, io */

struct sampler_counts {
    int64_t at_us; /* monotonic; 0: there is no sample before */
    struct node_usage usage;
    int64_t stalled_us[SAMPLER_STALLS]; /* SAMPLE_UNKNOWN: the kernel does not count */
};

struct sampler {
    struct sampler_counts before;
    struct gpu_watch gpus;
};

/* `list`: the node's GPUs, from gpus_list(). `watch`: samples GPUs with a lasting nvidia-smi;
 * false: ends it. out->gpus must have room for SAMPLE_GPUS. */
void sampler_take(struct sampler *s, const char *root, const char *list, bool watch,
                  struct node_sample *out);
void sampler_close(struct sampler *s);

/* Parts of sampler_take(). "some avg10=0.00 ... total=123\nfull ...": 123. */
int64_t sampler_read_stall(const char *text);
void sampler_compare(const struct sampler_counts *before, const struct sampler_counts *now,
                     struct node_sample *out);
/* Adds the GPUs of `list`, then others that nvidia-smi shows. `drm`: /sys/class/drm. */
void sampler_add_gpus(const struct gpu_watch *w, const char *list, const char *drm,
                      struct node_sample *out);

#endif
