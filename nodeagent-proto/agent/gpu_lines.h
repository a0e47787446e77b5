/* SPDX-License-Identifier: MIT
 *
 * Reads the output of programs, and files, about GPUs. "[N/A]" (with MIG), "[Not Supported]",
 * "ERR!" and everything else that is not a number in its bounds becomes SAMPLE_UNKNOWN, never 0.
 */
#ifndef NODEAGENT_PROTO_AGENT_GPU_LINES_H
#define NODEAGENT_PROTO_AGENT_GPU_LINES_H

#include "model/sample/sample.h"

/* The fields of a line for gpu_line_read(). Drivers before 535 have another name for the last
 * field. */
#define GPU_LINE_FIELDS                                                                            \
    "index,uuid,utilization.gpu,memory.used,memory.total,power.draw,temperature.gpu,"              \
    "ecc.errors.uncorrected.volatile.total,"
#define GPU_LINE_REASONS     "clocks_event_reasons.active"
#define GPU_LINE_REASONS_OLD "clocks_throttle_reasons.active"
#define GPU_APP_FIELDS       "gpu_uuid,pid,used_memory"

/* Read a line of CSV (format csv,noheader,nounits). False: it is not such a line. */
bool gpu_line_read(const char *line, struct gpu_sample *out) __attribute__((warn_unused_result));
bool gpu_app_read(const char *line, char uuid[SAMPLE_UUID_SIZE], struct gpu_process *out)
    __attribute__((warn_unused_result));

/* Reads the files of AMD's driver in `dir`, such as /sys/class/drm/renderD128/device. */
void gpu_amd_read(const char *dir, struct gpu_sample *out);
/* Reads only the GPU's uuid; "": it has none. */
void gpu_amd_uuid(const char *dir, char out[SAMPLE_UUID_SIZE]);

#endif
