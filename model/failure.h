/* SPDX-License-Identifier: MIT
 *
 * Failures that explain themselves: which node, step and command, the exit code or signal, the last
 * lines of stderr. Rendered as BatchAIError {code, message, details[{name, value}]}, kept as JSON
 * text in the `errors` column of jobs, nodes and clusters, written to execution.log and the log.
 */
#ifndef MODEL_FAILURE_H
#define MODEL_FAILURE_H

#include "lib/arena.h"

struct failure {
    const char *code;    /* JobFailed, JobPreparationFailed, JobTerminated, NodeSetupFailed, ... */
    const char *message; /* one sentence */
    const char *node, *step, *command, *stderr_tail, *remedy; /* each may be NULL */
    int exit_code;                                            /* -1: none */
    int signal;                                               /* 0: none */
};

/* JSON array text with one more entry than `errors` (NULL: none yet). Arena-owned. */
const char *failure_append(struct arena *a, const char *errors, const struct failure *f);
/* Concatenates two arrays' entries; either may be NULL. NULL if both are. Arena-owned. */
const char *failure_merge(struct arena *a, const char *errors, const char *more);
/* Message and code of the last entry; NULL if there is none. Arena-owned. */
const char *failure_message(struct arena *a, const char *errors);
const char *failure_code(struct arena *a, const char *errors);
/* A few lines for execution.log: failure_line(), the command, and the last lines of stderr, each
 * indented. Ends with a newline. Arena-owned. */
const char *failure_text(struct arena *a, const struct failure *f);
/* One line for logs: "code: message (node tvm-1, step main, exit code 3)". Arena-owned. */
const char *failure_line(struct arena *a, const struct failure *f);

#endif
