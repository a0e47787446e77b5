/* SPDX-License-Identifier: MIT
 *
 * What the users of a front call the things of the core. The core knows pools and runs; its users
 * know clusters and jobs, or pools and tasks, and read nothing else: not in messages, not in the
 * log, not in the environment of their processes. Each front has one table of such words, and
 * whoever writes a text for users takes the words from the table.
 *
 * Such texts have the words in braces: {pool}, {pools}, {run}, {runs}; with a capital ({Pool}) the
 * word begins with one. Names of properties are words too, by the names of the members below. A
 * brace before anything else stays.
 */
#ifndef MODEL_FRONT_WORDS_H
#define MODEL_FRONT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"

/* What the environment of a process tells it. */
enum front_var {
    VAR_POOL_MOUNTS, /* where the pool's volumes are mounted */
    VAR_RUN_MOUNTS,  /* where the run's are */
    VAR_RUN_DIR,     /* of the run on this node */
    VAR_SHARED_DIR,  /* in the run's directory on its first node */
    VAR_NODE,        /* the node's name */
    VAR_DEDICATED,   /* whether it is a dedicated one: true or false */
    VAR_NODE_COUNT,
    VAR_GPU_COUNT,
    VAR_RANK,
    VAR_HOST_FILE,  /* path of a file with the run's hosts, as MPI reads it */
    VAR_HOSTS,      /* the same hosts, with commas between them */
    VAR_HOST_LIST,  /* likewise, with semicolons */
    VAR_HOST_CORES, /* how many hosts there are, then each with its cores, all with blanks between
                     */
    VAR_FIRST,      /* HOST:PORT on the run's first node, for what meets there */
    VAR_IS_FIRST,   /* whether this is that node: true or false */
    VAR_STD_DIR,    /* where standard output and error go */
    VAR_INPUT,      /* an input directory: the id stands behind the name */
    VAR_OUTPUT,     /* an output directory, likewise */
    VAR_PREVIOUS_OUTPUT, /* the same where an earlier attempt has left its output, else nothing */
    VAR_PS_HOSTS,        /* HOST:PORT of each parameter server, with commas between them */
    VAR_WORKER_HOSTS,    /* of each worker, likewise */
    VAR_INIT_METHOD,     /* the URL at which the processes of PyTorch meet */
    VAR_BACKEND          /* the backend by which they speak */
};

struct front_var_name {
    enum front_var var;
    const char *name;
};

struct front_words {
    const char *pool, *pools, *run, *runs;
    const char *log;        /* a run's log is LOG.log, or LOG-NODE.log */
    const char *setup_task; /* that a pool runs on each of its nodes */
    const char *mounts_dir; /* where a pool's volumes are mounted, below a node's root */
    /* Unpacked archives, below a node's root: where they lie, where tasks have links to them, and
     * where those are that its pool uses; NULL: the front has none. */
    const char *archives, *archive_links, *pool_archive_links;
    const char *mounts_path; /* where the volumes of its pool were mounted in the service */
    const char *home;        /* the front's own directory there, which stays; NULL: it has none */
    /* Properties of pools, with their paths where errors have these: */
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

/* A text for users, and one that is no format; the arena's. Words are taken out of the format
 * alone, not out of what it prints. */
const char *front_text(const struct front_words *w, struct arena *a, const char *text);
const char *front_say(const struct front_words *w, struct arena *a, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The next name that a variable has, *i from 0 on; NULL: no more. */
const char *front_var_next(const struct front_words *w, enum front_var var, size_t *i);

/* The file name of a run's log; with the node's name, if each of the run's nodes has a log of its
 * own in the same directory (else NULL). The arena's. */
const char *front_log_name(const struct front_words *w, struct arena *a, const char *node);
bool front_is_log_name(const struct front_words *w, const char *name);

#endif
