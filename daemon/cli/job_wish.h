/* SPDX-License-Identifier: MIT
 *
 * A job as users describe it, on a command line or in a file. Checks the values, and makes the JSON
 * document of the job's resource from them.
 */
#ifndef DAEMON_CLI_JOB_WISH_H
#define DAEMON_CLI_JOB_WISH_H

#include <jansson.h>

#include "daemon/cli/cli.h"
#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"

/* The checks of the options' values. ERR_CONFIG: the message contains the value, and which values
 * are valid. */
int job_check_name(const char *value, struct err *e);
int job_check_group(const char *value, struct err *e);
int job_check_nodes(const char *value, struct err *e);
int job_check_gpus(const char *value, struct err *e);
int job_check_cores(const char *value, struct err *e);
int job_check_memory(const char *value, struct err *e);
int job_check_array(const char *value, struct err *e);
int job_check_time(const char *value, struct err *e);
int job_check_env(const char *value, struct err *e);
int job_check_secret(const char *value, struct err *e);

/* Whether a later NAME=... in the list has the same name and so replaces this one. Values of the
 * command line are after those of the file. */
bool job_is_given_again(const struct option_values *list, size_t i);

int job_nodes(const struct options *o);
/* The capacity that the job requests on each node. */
struct capacity job_need(const struct options *o);

/* Reads the file of --file into `o`; options of the command line override the file. Texts are in
 * the arena. ERR_CONFIG: the message begins with file, line and column. */
int job_file_read(const char *path, struct options *o, struct arena *a, struct err *e) MUST_CHECK;

/* Makes a name from the command and some random letters: "train-x7fk". In the arena. */
const char *job_new_name(const struct options *o, struct arena *a);

/* The place of a job, with its mounts. */
struct job_place {
    const char *group, *workspace, *experiment, *cluster, *name;
    const char *vm_size;        /* if the cluster must be created */
    int nodes_max;              /* the most nodes, if the cluster must be created */
    const char *account;        /* the storage account of the caller's jobs */
    const char *second_account; /* an account that no other user can have: see job_place_make() */
    const char *archive;        /* the copy of the folder on the account's share; NULL: none */
    const char *after;          /* the jobs to wait for: EXPERIMENT/JOB:success,...; NULL: none */
    json_t *secrets;            /* the document's list of secrets; NULL: none. Borrowed */
};

#define JOB_SHARE  "jobs"     /* the share in the caller's account, and the name of its mount */
#define JOB_KEY    "bm9uZQ==" /* the key in mounts of such an account, which accepts any key */
#define JOB_OUTPUT "FILES"    /* the id of the output directory */
#define JOB_FOLDER "folder"   /* the command runs in this folder of the output directory */

/* Makes the job's JSON document. Caller decrefs. */
json_t *job_document(const struct options *o, const struct job_place *p, const char *subscription);

#endif
