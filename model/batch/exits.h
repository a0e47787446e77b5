/* SPDX-License-Identifier: MIT
 *
 * The effects of a task's end on its job and on dependent tasks. Pure.
 */
#ifndef MODEL_BATCH_EXITS_H
#define MODEL_BATCH_EXITS_H

#include "model/batch/spec.h"

enum batch_end {
    BATCH_END_EXIT,           /* with an exit code */
    BATCH_END_PRE_PROCESSING, /* its files were not available, or its directories could not be made
                               */
    BATCH_END_UPLOAD,         /* its output could not be uploaded */
    BATCH_END_OTHER           /* terminated, or time limit */
};

/* Both members of the result are set. Default: none and satisfy after exit code 0, terminate and
 * block after any other end. */
struct batch_exit_options batch_exit_means(const struct batch_exit_conditions *c,
                                           enum batch_end how, int exit_code);

/* The number in a task's id ("4", "04"); -1: not a number. */
int64_t batch_id_number(const char *id);

#endif
