/* SPDX-License-Identifier: MIT
 *
 * What the end of a task means for its job and for those who depend on it. Pure.
 */
#ifndef MODEL_BATCH_EXITS_H
#define MODEL_BATCH_EXITS_H

#include "model/batch/spec.h"

enum batch_end {
    BATCH_END_EXIT,           /* with an exit code */
    BATCH_END_PRE_PROCESSING, /* its files could not be had, or its directories not be made */
    BATCH_END_UPLOAD,         /* its output could not be stored */
    BATCH_END_OTHER           /* terminated, out of time */
};

/* Both are set in what is returned. What is not said is none and satisfy after exit code 0, and
 * terminate and block after any other end. */
struct batch_exit_options batch_exit_means(const struct batch_exit_conditions *c,
                                           enum batch_end how, int exit_code);

/* The number that a task's id is ("4", "04"); -1: it is none. */
int64_t batch_id_number(const char *id);

#endif
