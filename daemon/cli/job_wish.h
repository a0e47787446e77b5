/* SPDX-License-Identifier: MIT
 *
 * A job as people ask for it, on a command line or in a file: its values are checked here, and
 * become the document of the job's resource.
 */
#ifndef DAEMON_CLI_JOB_WISH_H
#define DAEMON_CLI_JOB_WISH_H

#include <jansson.h>

#include "daemon/cli/cli.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"

/* The checks of options. ERR_CONFIG: the message has the value, and valid values. */
int job_check_name(const char *value, struct err *e);
int job_check_nodes(const char *value, struct err *e);
int job_check_gpus(const char *value, struct err *e);
int job_check_cores(const char *value, struct err *e);
int job_check_memory(const char *value, struct err *e);
int job_check_array(const char *value, struct err *e);
int job_check_time(const char *value, struct err *e);
int job_check_env(const char *value, struct err *e);
int job_check_secret(const char *value, struct err *e);

/* Whether a later NAME=... of the list replaces this one, because it has the name, too: values of
 * the command line come after those of the file. */
bool job_is_given_again(const struct option_values *list, size_t i);

int job_nodes(const struct options *o);
/* What the job requests of each node. */
struct capacity job_need(const struct options *o);

/* Reads the file of --file into `o`, where the command line has not said something else. Texts are
 * in the arena. ERR_CONFIG: with file, line and column. */
int job_file_read(const char *path, struct options *o, struct arena *a, struct err *e) MUST_CHECK;

/* A name from the command, with some random letters: "train-x7fk". In the arena. */
const char *job_new_name(const struct options *o, struct arena *a);

/* The place of a job, and its mounts. */
struct job_place {
    const char *group, *workspace, *experiment, *cluster, *name;
    const char *vm_size;        /* for the creation of the cluster */
    int nodes_max;              /* the most nodes, for the creation of the cluster */
    const char *account;        /* the storage account of the caller's jobs */
    const char *second_account; /* an account that nobody else can have: job_place_make() */
    const char *archive;        /* the copy of the folder on its share; NULL: none */
    const char *after;          /* EXPERIMENT/JOB:success,...; NULL: none */
    json_t *secrets;            /* the list of the document; NULL: none. Borrowed */
};

#define JOB_SHARE  "jobs"     /* the caller's share of the account, and the name of its mount */
#define JOB_KEY    "bm9uZQ==" /* the key of mounts of such an account: any key is accepted */
#define JOB_OUTPUT "FILES"    /* the id of the output directory */
#define JOB_FOLDER "folder"   /* the command runs in this folder of the output directory */

/* The document. Caller decrefs. */
json_t *job_document(const struct options *o, const struct job_place *p, const char *subscription);

#endif
