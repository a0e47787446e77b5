/* SPDX-License-Identifier: MIT
 *
 * The NVIDIA GPUs of the machine, watched by a lasting `nvidia-smi -l`, because the agent is static
 * and cannot load NVML, and each start of that program costs more than a sample. A second, short
 * one lists processes, when use or memory has changed.
 *
 *   OFF --gpu_watch_want()--> RUNNING --end, silence, flood--> PAUSED --a growing time--> RUNNING
 *    ^_______ gpu_watch_stop(), or nobody asked for a minute ________|
 *
 * Whatever the program does, each turn reads a bounded number of bytes, and nothing waits for it.
 */
#ifndef NODEAGENT_PROTO_AGENT_GPU_WATCH_H
#define NODEAGENT_PROTO_AGENT_GPU_WATCH_H

#include <poll.h>
#include <sys/types.h>

#include "model/sample/sample.h"

#define GPU_LINE_MAX   1024 /* bytes of a line; a longer line is dropped */
#define GPU_WATCH_POLL 2    /* descriptors */

/* A program whose lines are read. */
struct gpu_program {
    pid_t pid;    /* of its process group; 0: it does not run */
    pid_t killed; /* the last that was ended: while it hangs in the kernel, no other is started */
    int fd;
    int64_t since_ms, heard_ms; /* monotonic; its last line */
    int64_t window_ms;          /* since when `bytes` are counted */
    size_t bytes;
    size_t n;     /* of the line that is not complete */
    bool dropped; /* the line is too long, and its rest is discarded */
    char line[GPU_LINE_MAX];
};

struct gpu_watched {
    struct gpu_sample last;
    int64_t at_ms; /* of its line */
};

struct gpu_watch {
    struct gpu_program lasting, listing;
    struct gpu_watched gpus[SAMPLE_GPUS];
    int n_gpus;
    struct gpu_watched *listed; /* while `listing` runs: a copy that collects processes; owned */
    bool changed;               /* use or memory, since processes were listed */
    bool has_line;              /* `lasting` has printed a good line */
    bool old_names;             /* of fields, for old drivers */
    int failures;               /* in a row, without a good line */
    int64_t asked_ms, retry_ms;
    /* the program hangs after so long without a line; 0: 45 s (shorter in tests) */
    int64_t silence_ms;
    char why[SAMPLE_WHY_SIZE];  /* "": no error is known */
    char said[SAMPLE_WHY_SIZE]; /* a line that is none */
};

/* Somebody wants samples now. Starts the program if it exists and is not paused. */
void gpu_watch_want(struct gpu_watch *w);
/* Ends the programs, so that nothing holds the devices. */
void gpu_watch_stop(struct gpu_watch *w);
/* The latest sample of the GPU with this uuid; NULL: none in the last 45 s. */
const struct gpu_sample *gpu_watch_find(const struct gpu_watch *w, const char *uuid);
/* The i-th GPU; NULL: not seen in the last 45 s. */
const struct gpu_sample *gpu_watch_at(const struct gpu_watch *w, int i);

/* For the poll loop, as in tasks.h; GPU_WATCH_POLL descriptors. */
void gpu_watch_poll_fill(const struct gpu_watch *w, struct pollfd *p);
void gpu_watch_poll_act(struct gpu_watch *w, const struct pollfd *p);
int gpu_watch_poll_timeout(const struct gpu_watch *w);

#endif
