/* SPDX-License-Identifier: MIT
 *
 * The words of a front (one of the served services, Batch AI or Azure Batch) for the objects of the
 * core. The core has pools and runs, but users know them as clusters and jobs, or as pools and
 * tasks. Messages, logs and the environment of processes contain only the users' words: each front
 * has one table of words, and code that writes a text for users takes the words from it.
 *
 * Such texts contain the words in braces: {pool}, {pools}, {run}, {runs}; with a capital ({Pool})
 * the word begins with a capital. Names of properties are words too; their keys are the names of
 * the members below. A brace before any other text is not changed.
 */
#ifndef MODEL_FRONT_WORDS_H
#define MODEL_FRONT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"

/* Variables in the environment of a process. */
enum front_var {
    VAR_POOL_MOUNTS, /* where the pool's volumes are mounted */
    VAR_RUN_MOUNTS,  /* where the run's volumes are mounted */
    VAR_RUN_DIR,     /* the directory of the run on this node */
    VAR_SHARED_DIR,  /* a directory in the run's directory on its first node */
    VAR_NODE,        /* the node's name */
    VAR_DEDICATED,   /* "true" on a dedicated node, otherwise "false" */
    VAR_NODE_COUNT,
    VAR_GPU_COUNT,
    VAR_RANK,
    VAR_HOST_FILE,  /* path of a file with the run's hosts, in MPI's format */
    VAR_HOSTS,      /* the names of the run's hosts, separated by commas */
    VAR_HOST_LIST,  /* the names of the run's hosts, separated by semicolons */
    VAR_HOST_CORES, /* the number of hosts, then each host with its cores, separated by blanks */
    VAR_FIRST,      /* HOST:PORT on the run's first node, where its processes can meet */
    VAR_IS_FIRST,   /* "true" on the run's first node, otherwise "false" */
    VAR_STD_DIR,    /* the directory of standard output and error */
    VAR_INPUT,      /* an input directory: the id is appended to the name */
    VAR_OUTPUT,     /* an output directory: the id is appended to the name */
    /* like VAR_OUTPUT, for the output of an earlier attempt; unset if there is none */
    VAR_PREVIOUS_OUTPUT,
    VAR_PS_HOSTS,     /* HOST:PORT of each parameter server, separated by commas */
    VAR_WORKER_HOSTS, /* HOST:PORT of each worker, separated by commas */
    VAR_INIT_METHOD,  /* the URL where PyTorch's processes meet (init_method) */
    VAR_BACKEND       /* the backend of the communication between PyTorch's processes */
};

struct front_var_name {
    enum front_var var;
    const char *name;
};

struct front_words {
    const char *pool, *pools, *run, *runs;
    const char *log;        /* a run's log is LOG.log, or LOG-NODE.log */
    const char *setup_task; /* the task that a pool runs on each of its nodes */
    const char *mounts_dir; /* the mount root of a pool's volumes, below a node's root */
    /* Directories for archives, below a node's root: the unpacked archives, the links to them for
     * tasks, and the links for the pool. NULL: the front has no archives. */
    const char *archives, *archive_links, *pool_archive_links;
    const char *mounts_path; /* the mount root of its pool's volumes in the real service */
    const char *home;        /* the front's permanent directory in the real service; NULL: none */
    /* Properties of pools, with their paths for errors: */
    const char *size, *size_path, *priority, *target_path, *maximum_path, *admin_name;
    /* Properties of runs: */
    const char *std_prefix, *inputs, *outputs, *secrets, *time_limit, *time_limit_path;
    const char *container, *registry, *registry_url;
    const char *const *toolkits; /* by enum tool_type, up to TOOL_CUSTOM */
    /* Properties of volumes: */
    const char *mounts, *account_key, *account_key_path, *source_directory, *mount_command;
    /* The names of variables in the environment. A variable may have several names, or none. A row
     * with a NULL name ends the list. */
    const struct front_var_name *vars;
};

/* Make a text for users in the arena, with the words put in: front_text() from a text, front_say()
 * from a format of printf(). Words are replaced only in the format, not in its arguments. */
const char *front_text(const struct front_words *w, struct arena *a, const char *text);
const char *front_say(const struct front_words *w, struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the next name of a variable; NULL: no more. The caller sets *i to 0 before the first
 * call. */
const char *front_var_next(const struct front_words *w, enum front_var var, size_t *i);

/* The file name of a run's log, in the arena. `node`: a node's name, which becomes part of the file
 * name, if the run's nodes have separate logs in one directory; otherwise NULL. */
const char *front_log_name(const struct front_words *w, struct arena *a, const char *node);
bool front_is_log_name(const struct front_words *w, const char *name);

#endif
