/* SPDX-License-Identifier: MIT
 *
 * Converts a run's nodes and its decoded settings to processes, and to a rule for the end of the
 * run. Pure: no I/O, no clock. The plan depends only on its input: after a restart of the daemon
 * the run is planned again, and its processes must get the same names, because task ids contain
 * these names.
 *
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

/* A node of a run, from the launcher's view. */
struct launch_node {
    const char *name, *root;
    int gpus;            /* how many GPUs of the node the run has */
    const char *address; /* the address for the run's other nodes */
    bool is_local;       /* shares its machine with the daemon, and with other local nodes */
    const char *devices; /* the numbers of the run's GPUs on the node: "0,2"; NULL: all GPUs */
    bool amd;            /* these GPUs are AMD's */
    int cores;           /* cores of the run on this node */
};

struct launch_input {
    const struct front_words *words;
    const struct run_spec *spec; /* with the decoded settings of its toolkit */
    const char *run_guid;
    int attempt;
    int64_t number;                  /* the run's number: concurrent runs have different numbers */
    const char *shared_root;         /* a directory that all machines see; NULL: none */
    const struct launch_node *nodes; /* by rank */
    size_t n_nodes;
};

enum launch_role {
    LAUNCH_PREPARATION, /* prepares its node; the other processes begin when all preparations have
                           succeeded */
    LAUNCH_MAIN,        /* its success may end the run: enum launch_end */
    /* is stopped at the end of the run; its failure fails the run, but its success does not end the
     * run */
    LAUNCH_HELPER
};

/* The condition for a run's success. A run fails as soon as any of its processes fails. */
enum launch_end {
    LAUNCH_ENDS_WITH_FIRST, /* when the first main process has succeeded */
    LAUNCH_ENDS_WITH_ALL    /* when all main processes have succeeded */
};

struct launch_process {
    enum launch_role role;
    int rank;          /* rank of its node */
    const char *name;  /* for task ids; unique on its node */
    const char *title; /* the name for people: "worker 2"; NULL: the run has only this process */
    const char *command_line;
    /* executed instead of the command line, which is then only shown; NULL: the command line is
     * executed */
    const struct program_spec *program;
    const char *shown;    /* shown instead of the command line; NULL: the command line */
    const struct kv *env; /* in addition to the node's variables; without secrets */
    size_t n_env;
    const int *devices; /* the GPUs of the node that the process sees; NULL: all GPUs of the run */
    size_t n_devices;
    bool leaves;                           /* its child processes may continue until the run ends */
    const char *stdout_name, *stderr_name; /* in the run's std directory */
};

struct launch_plan {
    struct launch_process *processes;
    size_t n, cap;
    enum launch_end end;
};

/* Makes the plan of a run, in the arena. False: these settings do not work with these nodes; *why
 * (texts in the arena) is the reason. */
bool launch_plan(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                 struct failure *why) MUST_CHECK;

/* The port for the run's i-th listener, on any node. */
int launch_port(const struct launch_input *in, size_t i);

/* Whether the run has succeeded if the processes marked in `over` (one flag for each process) have
 * succeeded. */
bool launch_succeeded(const struct launch_plan *plan, const bool *over);

/* Sets *out to the variables of one process in addition to its node's: its `env` and its devices.
 * Returns their number. In the arena. */
size_t launch_process_env(struct arena *a, const struct launch_process *p, struct kv **out);

#endif
