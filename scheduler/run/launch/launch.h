/* SPDX-License-Identifier: MIT
 *
 * The launch contract: a run's nodes and its decoded settings become processes, and a rule for when
 * the run is over.
 *
 * Pure: no I/O, no clock. What is planned depends on its input alone, because after a restart of
 * the daemon it is planned again and has to name the same processes: names are in the ids of tasks.
 * Each toolkit is a file here with one function and a row in launch.c.
 */
#ifndef SCHEDULER_RUN_LAUNCH_LAUNCH_H
#define SCHEDULER_RUN_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "model/failure.h"
#include "model/spec.h"

/* One node of a run, as the launcher sees it. */
struct launch_node {
    const char *name, *root;
    int gpus;            /* how many the run has there */
    const char *address; /* where the run's other nodes reach it */
    bool is_local;       /* shares its machine with the daemon, and with other local nodes */
    const char *devices; /* the numbers of these GPUs on the node: "0,2"; NULL: all of it */
    bool amd;            /* these GPUs are AMD's */
    int cores;           /* that the run has there */
};

struct launch_input {
    const struct front_words *words;
    const struct run_spec *spec; /* with the decoded settings of its toolkit */
    const char *run_guid;
    int attempt;
    int64_t number;                  /* of the run: runs beside each other have different ones */
    const char *shared_root;         /* a directory that all machines see; NULL: there is none */
    const struct launch_node *nodes; /* by rank */
    size_t n_nodes;
};

enum launch_role {
    LAUNCH_PREPARATION, /* prepares its node; the others begin when all of these have ended well */
    LAUNCH_MAIN,        /* its end counts: enum launch_end */
    LAUNCH_HELPER       /* ended with the run; only its failure counts */
};

/* When a run has succeeded. It has failed as soon as any of its processes has. */
enum launch_end {
    LAUNCH_ENDS_WITH_FIRST, /* of the main processes */
    LAUNCH_ENDS_WITH_ALL    /* of them */
};

struct launch_process {
    enum launch_role role;
    int rank;          /* of its node */
    const char *name;  /* in task ids; unique on its node */
    const char *title; /* what people call it: "worker 2"; NULL: it is the run's only one */
    const char *command_line;
    const struct program_spec *program; /* instead of the command line, which is only shown then */
    const char *shown;    /* what people are told instead of the command line; NULL: itself */
    const struct kv *env; /* on top of what all processes of its node have; none of it secret */
    size_t n_env;
    const int *devices; /* which of its node's GPUs it sees; NULL: all that the run has */
    size_t n_devices;
    bool leaves; /* processes that it has begun and left go on until the run ends */
    const char *stdout_name, *stderr_name; /* in the run's std directory */
};

struct launch_plan {
    struct launch_process *processes;
    size_t n, cap;
    enum launch_end end;
};

/* Everything is the arena's. False: these settings do not work with these nodes; *why (arena-owned
 * texts) says why. */
bool launch_plan(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                 struct failure *why) MUST_CHECK;

/* A port of the run's own for the i-th thing of it that listens, on whatever node that is. */
int launch_port(const struct launch_input *in, size_t i);

/* Whether the run has succeeded, now that the processes marked in `over` (one flag for each
 * process) have ended well. */
bool launch_succeeded(const struct launch_plan *plan, const bool *over);

/* The variables that one process has on top of its node's: `env` of its row, and its devices.
 * Arena-owned; returns how many. */
size_t launch_process_env(struct arena *a, const struct launch_process *p, struct kv **out);

#endif
