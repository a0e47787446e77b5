/* SPDX-License-Identifier: MIT
 *
 * Watches the NVIDIA GPUs of the machine by a permanently running `nvidia-smi -l`: the agent is
 * linked statically and cannot load NVML, and starting that program for each sample would cost more
 * than the sample. A second nvidia-smi lists the processes when the use or the memory of a GPU has
 * changed, and ends.
 *
 *   OFF --gpu_watch_want()--> RUNNING --end, silence, flood--> PAUSED --a growing time--> RUNNING
 *    ^_______ gpu_watch_stop(), or nobody asked for a minute ________|
 *
 * Whatever the programs do, each turn of the loop reads a bounded number of bytes, and the agent
 * never waits for them.
 */
#ifndef NODEAGENT_PROTO_AGENT_GPU_WATCH_H
#define NODEAGENT_PROTO_AGENT_GPU_WATCH_H

#include <poll.h>
#include <sys/types.h>

#include "model/sample/sample.h"

#define GPU_LINE_MAX   1024 /* bytes of a line; a longer line is dropped */
#define GPU_WATCH_POLL 2    /* how many descriptors it adds to the poll list */

/* A program whose lines are read. */
struct gpu_program {
    pid_t pid;    /* the program, and its process group; 0: it does not run */
    pid_t killed; /* the last killed process: until it has ended, no other is started */
    int fd;
    int64_t since_ms, heard_ms; /* monotonic instants: of its start, and of its last line */
    int64_t window_ms;          /* since when output is counted in `bytes` */
    size_t bytes;
    size_t n;     /* the length of the incomplete line */
    bool dropped; /* the line is too long, so it is discarded up to its end */
    char line[GPU_LINE_MAX];
};

struct gpu_watched {
    struct gpu_sample last;
    int64_t at_ms; /* the instant of its last line */
};

struct gpu_watch {
    struct gpu_program lasting, listing;
    struct gpu_watched gpus[SAMPLE_GPUS];
    int n_gpus;
    struct gpu_watched *listed; /* while `listing` runs: a copy that gets its processes; owned */
    bool changed;               /* use or memory of a GPU changed since processes were listed */
    bool has_line;              /* `lasting` has printed a good line */
    bool old_names;             /* uses the names of fields of old drivers */
    int failures;               /* how many times in a row `lasting` failed without a good line */
    int64_t asked_ms, retry_ms;
    /* After this time without a line, the program counts as hanging; 0: 45 s (shorter in tests). */
    int64_t silence_ms;
    char why[SAMPLE_WHY_SIZE];  /* "": no error is known */
    char said[SAMPLE_WHY_SIZE]; /* the last line that was not a sample */
};

/* Tells that the daemon wants samples now. Starts the program if it exists and is not paused. */
void gpu_watch_want(struct gpu_watch *w);
/* Ends the programs, so that they do not keep the devices open. */
void gpu_watch_stop(struct gpu_watch *w);
/* The latest sample of the GPU with this uuid; NULL: there was none in the last 45 s. */
const struct gpu_sample *gpu_watch_find(const struct gpu_watch *w, const char *uuid);
/* The latest sample of the i-th GPU; NULL: there was none in the last 45 s. */
const struct gpu_sample *gpu_watch_at(const struct gpu_watch *w, int i);

/* For the poll loop, as in tasks.h; GPU_WATCH_POLL descriptors. */
void gpu_watch_poll_fill(const struct gpu_watch *w, struct pollfd *p);
void gpu_watch_poll_act(struct gpu_watch *w, const struct pollfd *p);
int gpu_watch_poll_timeout(const struct gpu_watch *w);

#endif
