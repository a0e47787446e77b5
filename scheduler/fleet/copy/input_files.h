/* SPDX-License-Identifier: MIT
 *
 * What a run or a set-up task has on its node before it begins.
 */
#ifndef SCHEDULER_FLEET_COPY_INPUT_FILES_H
#define SCHEDULER_FLEET_COPY_INPUT_FILES_H

#include "model/spec.h"
#include "scheduler/fleet/script/script.h"

struct files;
struct transfers;

/* Where the steps go to, and who carries them out. */
struct inputs {
    struct script *script;
    struct arena *a; /* the script's */
    struct files *files;
    struct transfers *transfers; /* NULL: what is of others fails */
    const char *root;            /* the node's */
    const char *as;              /* who owns the files */
};
/* Adds the steps that put all of it there. A failure is one of those with FAIL_INPUT_...,
 * FAIL_PACKAGE or FAIL_NO_ROOM. */
void inputs_add(const struct inputs *in, const struct input_list *list);

/* Whether the failure says that something could not be put there. */
bool inputs_failed(const struct failure *why);

#endif
