/* SPDX-License-Identifier: MIT
 *
 * Requests of a job for which Batch AI has no property. The user gives them as reserved variables
 * in environmentVariables: BATCHAID_JOB_GPUS=2. The stored document contains them, so that a GET
 * shows them and a repeated PUT is compared with them. Decoding removes them, so that the job's
 * processes do not get them.
 *
 * One table (wishes.c) contains their names, types and limits. The functions that read them are
 * pure.
 */
#ifndef MODEL_WISHES_H
#define MODEL_WISHES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"
#include "lib/kv.h"
#include "model/resource.h"

/* Names with this prefix, in any case, are reserved. */
#define WISH_PREFIX "BATCHAID_JOB_"

#define WISH_GRACE_DEFAULT_S 5
#define WISH_GRACE_MAX_S     3600

/* How often a job is tried again, and after which failures. */
#define RETRY_CODES_MAX 16
struct retry_rule {
    int times;
    bool after_node, after_exit;          /* after a lost node; after any exit code but 0 */
    unsigned char codes[RETRY_CODES_MAX]; /* also after these exit codes */
    size_t n_codes;
};

struct wishes {
    bool part;            /* true: it takes only this part of each of its nodes: */
    struct capacity need; /* 0: the user did not request this resource */
    bool has_grace;
    int grace_s;            /* the seconds between SIGTERM and SIGKILL */
    const char *depends_on; /* as given; NULL: none */
    size_t depends_at;      /* the index of the variable that contains depends_on */
    struct retry_rule retry;
    const char *array; /* as given; NULL: not an array */
    int array_n;       /* how many indexes it has */
    int array_limit;   /* how many runs of the array may run at once; 0: all */
};

/* A dependency of a job. Its texts are borrowed and have no NUL at their ends. */
struct wish_dependency {
    const char *experiment; /* NULL: the job's experiment */
    size_t experiment_len;
    const char *job;
    size_t job_len;
    enum after wanted;
};
#define WISH_DEPENDENCIES_MAX 100
/* Reads the next dependency of a list and moves *at past it. False: there are no more, or it is
 * invalid. */
bool wish_next_dependency(const char **at, struct wish_dependency *out);
#define WISH_ARRAY_MAX       1000
#define WISH_ARRAY_INDEX_MAX 1000000
/* Writes the indexes of an array in rising order to `out` and returns how many there are; 0: the
 * text is invalid. */
size_t wish_array(const char *text, int out[WISH_ARRAY_MAX]);
/* True: a job with this failure is tried again. exit_code < 0: no process returned an exit code. */
bool wish_retries(const struct retry_rule *r, bool nodes_fault, int exit_code);

/* A reserved variable, for messages and docs. */
struct wish_row {
    const char *name;  /* with the prefix */
    const char *right; /* the rule for its value, after "must be" */
    const char *help;
};
/* Returns the i-th row of the table; NULL: there are no more. */
const struct wish_row *wish_row(size_t i);

bool wish_reserved(const char *name);
/* Reads a reserved variable into *out. -1: its name or its value is invalid. The target of the
 * error is `name_at` or `value_at`, which the caller sets to the paths of the name and of the
 * value. */
int wish_read(const char *name, const char *value, const char *name_at, const char *value_at,
              struct wishes *out, struct err *e) MUST_CHECK;
/* Removes all reserved variables from a list and reads their values. A variable that is invalid is
 * only removed; it was stored before the table had its row. */
void wishes_take(struct kv *env, size_t *n, struct wishes *out);

#endif
