/* SPDX-License-Identifier: MIT
 *
 * The effects of a task's end on its job and on dependent tasks. Pure.
 */
#ifndef MODEL_BATCH_EXITS_H
#define MODEL_BATCH_EXITS_H

#include "model/batch/spec.h"

enum batch_end {
    BATCH_END_EXIT,           /* the command ended with an exit code */
    BATCH_END_PRE_PROCESSING, /* its files or directories could not be prepared */
    BATCH_END_UPLOAD,         /* its output could not be uploaded */
    BATCH_END_OTHER           /* a user terminated the task, or its time limit was reached */
};

/* Always sets both members of the result. Without a rule of the user: after exit code 0, no action
 * on the job and the dependency is satisfied; after any other end, the job is terminated and
 * dependent tasks are blocked. */
struct batch_exit_options batch_exit_means(const struct batch_exit_conditions *c,
                                           enum batch_end how, int exit_code);

/* The number in a task's id ("4", "04"); -1: not a number. */
int64_t batch_id_number(const char *id);

#endif
