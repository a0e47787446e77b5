/* SPDX-License-Identifier: MIT
 *
 * The words of a front for the things of the core. The core has pools and runs; its users know
 * clusters and jobs, or pools and tasks, and read only these words: in messages, in the log, in the
 * environment of their processes. Each front has one table of words, and code that writes a text
 * for users takes the words from the table.
 *
 * Such texts contain the words in braces: {pool}, {pools}, {run}, {runs}; with a capital ({Pool})
 * the word begins with one. Names of properties are words too, by the names of the members below. A
 * brace before other text stays.
 */
#ifndef MODEL_FRONT_WORDS_H
#define MODEL_FRONT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"

/* Variables in the environment of a process. */
enum front_var {
    VAR_POOL_MOUNTS, /* where the pool's volumes are mounted */
    VAR_RUN_MOUNTS,  /* where the run's are */
    VAR_RUN_DIR,     /* of the run on this node */
    VAR_SHARED_DIR,  /* in the run's directory on its first node */
    VAR_NODE,        /* the node's name */
    VAR_DEDICATED,   /* whether it is a dedicated node: true or false */
    VAR_NODE_COUNT,
    VAR_GPU_COUNT,
    VAR_RANK,
    VAR_HOST_FILE,  /* path of a file with the run's hosts, in MPI's format */
    VAR_HOSTS,      /* the names of the run's hosts, separated by commas */
    VAR_HOST_LIST,  /* the names of the run's hosts, separated by semicolons */
    VAR_HOST_CORES, /* the number of hosts, then each host with its cores, separated by blanks */
    VAR_FIRST,      /* HOST:PORT of a meeting point on the run's first node */
    VAR_IS_FIRST,   /* whether this is the first node: true or false */
    VAR_STD_DIR,    /* the directory of standard output and error */
    VAR_INPUT,      /* an input directory: the id is appended to the name */
    VAR_OUTPUT,     /* an output directory: the id is appended to the name */
    /* like VAR_OUTPUT, for the output of an earlier attempt; unset if there is none */
    VAR_PREVIOUS_OUTPUT,
    VAR_PS_HOSTS,     /* HOST:PORT of each parameter server, separated by commas */
    VAR_WORKER_HOSTS, /* HOST:PORT of each worker, separated by commas */
    VAR_INIT_METHOD,  /* the URL of the meeting point of PyTorch's processes */
    VAR_BACKEND       /* the backend of their communication */
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
    /* Directories of unpacked archives, below a node's root: their place, the links of tasks, and
     * the links of the pool; NULL: the front has none. */
    const char *archives, *archive_links, *pool_archive_links;
    const char *mounts_path; /* the mount root of its pool's volumes in the real service */
    const char *home;        /* the front's permanent directory there; NULL: none */
    /* Properties of pools, with their paths for errors: */
    const char *size, *size_path, *priority, *target_path, *maximum_path, *admin_name;
    /* of runs: */
    const char *std_prefix, *inputs, *outputs, *secrets, *time_limit, *time_limit_path;
    const char *container, *registry, *registry_url;
    const char *const *toolkits; /* by enum tool_type, up to TOOL_CUSTOM */
    /* of volumes: */
    const char *mounts, *account_key, *account_key_path, *source_directory, *mount_command;
    /* A variable may have several names, or none. Ends with a NULL. */
    const struct front_var_name *vars;
};

/* A text for users, and a text without a format; in the arena. Words are replaced in the format
 * only, not in its arguments. */
const char *front_text(const struct front_words *w, struct arena *a, const char *text);
const char *front_say(const struct front_words *w, struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The next name of a variable, *i from 0 on; NULL: no more. */
const char *front_var_next(const struct front_words *w, enum front_var var, size_t *i);

/* The file name of a run's log. With `node`, its name is part of it: for runs whose nodes have
 * separate logs in one directory (otherwise NULL). In the arena. */
const char *front_log_name(const struct front_words *w, struct arena *a, const char *node);
bool front_is_log_name(const struct front_words *w, const char *name);

#endif
