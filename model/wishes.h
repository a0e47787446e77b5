/* SPDX-License-Identifier: MIT
 *
 * What a job asks for that Batch AI has no property for, by reserved variables in its
 * environmentVariables: BATCHAID_JOB_GPUS=2. They stay in the stored document, so that a GET shows
 * them and a repeated PUT compares them; decoding takes them out, so that no process sees them.
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

/* Names that begin so, in any case, are reserved. */
#define WISH_PREFIX "BATCHAID_JOB_"

#define WISH_GRACE_DEFAULT_S 5
#define WISH_GRACE_MAX_S     3600

/* How often a job is tried again, and after what. */
#define RETRY_CODES_MAX 16
struct retry_rule {
    int times;
    bool after_node, after_exit;          /* a lost node; any exit code but 0 */
    unsigned char codes[RETRY_CODES_MAX]; /* these exit codes, too */
    size_t n_codes;
};

struct wishes {
    bool part;            /* it takes a part of each of its nodes, not the whole: */
    struct capacity need; /* 0: nothing was asked for */
    bool has_grace;
    int grace_s;            /* between SIGTERM and SIGKILL */
    const char *depends_on; /* as it was given; NULL: on nothing */
    size_t depends_at;      /* which of the variables this was */
    struct retry_rule retry;
    const char *array; /* as it was given; NULL: it is none */
    int array_n;       /* how many indexes it has */
    int array_limit;   /* how many of them may run at once; 0: all */
};

/* One that a job waits for: not terminated. */
struct wish_dependency {
    const char *experiment; /* NULL: the job's own */
    size_t experiment_len;
    const char *job;
    size_t job_len;
    enum after wanted;
};
#define WISH_DEPENDENCIES_MAX 100
/* Reads the next of a list; false: there are no more, or it is wrong. *at goes on behind it. */
bool wish_next_dependency(const char **at, struct wish_dependency *out);
#define WISH_ARRAY_MAX       1000
#define WISH_ARRAY_INDEX_MAX 1000000
/* Fills in the indexes of an array, in their order; returns how many; 0: the text is wrong. */
size_t wish_array(const char *text, int out[WISH_ARRAY_MAX]);
/* Whether a job that failed so is tried again. exit_code < 0: not by its own exit. */
bool wish_retries(const struct retry_rule *r, bool nodes_fault, int exit_code);

/* One reserved variable, as people read of it. */
struct wish_row {
    const char *name;  /* with the prefix */
    const char *right; /* what its value must be, to follow "must be" */
    const char *help;
};
/* The rows in their order; NULL: no more. */
const struct wish_row *wish_row(size_t i);

bool wish_reserved(const char *name);
/* Reads one reserved variable into *out. -1: its name or its value is wrong: `name_at` and
 * `value_at` are the paths of both, one of which becomes the error's target. */
int wish_read(const char *name, const char *value, const char *name_at, const char *value_at,
              struct wishes *out, struct err *e) MUST_CHECK;
/* Takes all reserved variables out of a list and reads them; one that cannot be read (it was stored
 * before there was such a row) is only taken out. */
void wishes_take(struct kv *env, size_t *n, struct wishes *out);

#endif
