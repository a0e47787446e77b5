/* SPDX-License-Identifier: MIT
 *
 * Requests of a job for which Batch AI has no property, as reserved variables in its
 * environmentVariables: BATCHAID_JOB_GPUS=2. They stay in the stored document, so that a GET shows
 * them and a repeated PUT compares them; decoding removes them, so that no process sees them.
 *
 * One table (wishes.c) has their names, types and limits. Reading them is pure.
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
    unsigned char codes[RETRY_CODES_MAX]; /* these exit codes, too */
    size_t n_codes;
};

struct wishes {
    bool part;            /* it takes a part of each of its nodes, not the whole: */
    struct capacity need; /* 0: nothing was asked for */
    bool has_grace;
    int grace_s;            /* between SIGTERM and SIGKILL */
    const char *depends_on; /* as given; NULL: none */
    size_t depends_at;      /* index of this variable */
    struct retry_rule retry;
    const char *array; /* as given; NULL: not an array */
    int array_n;       /* how many indexes it has */
    int array_limit;   /* how many runs of the array may run at once; 0: all */
};

/* A dependency of a job: not terminated. */
struct wish_dependency {
    const char *experiment; /* NULL: the job's experiment */
    size_t experiment_len;
    const char *job;
    size_t job_len;
    enum after wanted;
};
#define WISH_DEPENDENCIES_MAX 100
/* Reads the next dependency of a list; false: there are no more, or it is invalid. *at moves past
 * it. */
bool wish_next_dependency(const char **at, struct wish_dependency *out);
#define WISH_ARRAY_MAX       1000
#define WISH_ARRAY_INDEX_MAX 1000000
/* Fills in the indexes of an array, in their order; returns how many; 0: invalid text. */
size_t wish_array(const char *text, int out[WISH_ARRAY_MAX]);
/* Whether a job with this failure is tried again. exit_code < 0: no process has given an exit
 * code. */
bool wish_retries(const struct retry_rule *r, bool nodes_fault, int exit_code);

/* A reserved variable, for messages and docs. */
struct wish_row {
    const char *name;  /* with the prefix */
    const char *right; /* the rule for its value, after "must be" */
    const char *help;
};
/* The rows in their order; NULL: no more. */
const struct wish_row *wish_row(size_t i);

bool wish_reserved(const char *name);
/* Reads a reserved variable into *out. -1: its name or its value is wrong. The target of the error
 * is `name_at` or `value_at`: the paths of the name and of the value. */
int wish_read(const char *name, const char *value, const char *name_at, const char *value_at,
              struct wishes *out, struct err *e) MUST_CHECK;
/* Removes all reserved variables from a list and reads them; a variable that cannot be read (stored
 * before its row existed) is only removed. */
void wishes_take(struct kv *env, size_t *n, struct wishes *out);

#endif
