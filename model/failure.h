/* SPDX-License-Identifier: MIT
 *
 * Failures with their context: node, step and command, the exit code or signal, the last lines of
 * stderr. A failure is rendered as a BatchAIError {code, message, details[{name, value}]}, stored
 * as JSON text in the column `errors` of jobs, nodes and clusters, and written to execution.log and
 * to the daemon's log.
 */
#ifndef MODEL_FAILURE_H
#define MODEL_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/arena.h"
#include "model/failure_table.h"
#include "model/front_words.h"

#define FAILURE_ID(id, number, name, fault, heals, replaceable) id = (number),
enum failure_code { FAIL_NONE = 0, FAILURES(FAILURE_ID) };
#undef FAILURE_ID

/* The party that can remove the cause. */
enum failure_fault {
    FAULT_NOBODY,   /* for FAIL_NONE */
    FAULT_CLIENT,   /* the settings of the job or cluster, or an action of its user */
    FAULT_NODE,     /* the machine, or the network to it */
    FAULT_SITE,     /* the daemon's configuration, or a file or host that it names */
    FAULT_OPERATOR, /* an intended action of a person */
};

/* The failure's name in replies; "Unknown" for an unknown number. A static text. */
const char *failure_name(enum failure_code code);
enum failure_fault failure_fault(enum failure_code code);
/* Whether a node that is unusable for this reason is prepared again as soon as it can be
 * reached. */
bool failure_heals(enum failure_code code);
/* True: if a node fails with this code before it was ever usable, another machine may replace
 * it. */
bool failure_replaceable(enum failure_code code);

struct failure {
    enum failure_code code;
    const char *message;                                      /* one sentence */
    const char *node, *step, *command, *stderr_tail, *remedy; /* each may be NULL */
    int exit_code;                                            /* -1: none */
    int signal;                                               /* 0: none */
};

/* The exit code that a job gets if it failed for this reason and no process returned one. It
 * follows the conventions of timeout(1) and of shells, and is never 0. */
int failure_exit_code(const struct failure *f);
/* JSON array text with one more entry than `errors` (NULL: none yet). In the arena. */
const char *failure_append(struct arena *a, const char *errors, const struct failure *f);
/* Joins the arrays `errors`, of which each may be NULL, into one array in the arena. Returns NULL
 * if all of them are NULL. */
const char *failure_join(struct arena *a, const char *const *errors, size_t n);
/* Some lines for the run's log: failure_line(), the command, the last lines of stderr, the party at
 * fault and the remedy, each indented. Ends with a newline. In the arena. */
const char *failure_text(struct arena *a, const struct front_words *w, const struct failure *f);
/* The failure's message, followed by the end of stderr. In the arena. */
const char *failure_told(struct arena *a, const struct failure *f);
/* A line for logs: "code: message (node tvm-1, step main, exit code 3)". In the arena. */
const char *failure_line(struct arena *a, const struct failure *f);

#endif
