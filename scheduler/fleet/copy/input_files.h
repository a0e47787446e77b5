/* SPDX-License-Identifier: MIT
 *
 * Puts the input files of a run or a set-up task on its node, before it begins.
 */
#ifndef SCHEDULER_FLEET_COPY_INPUT_FILES_H
#define SCHEDULER_FLEET_COPY_INPUT_FILES_H

#include "model/spec.h"
#include "scheduler/fleet/script/script.h"

struct files;
struct transfers;

/* The script that gets the steps, and the services that carry them out. */
struct inputs {
    struct script *script;
    struct arena *a; /* the script's */
    struct files *files;
    struct transfers *transfers; /* NULL: files at foreign URLs fail */
    const char *root;            /* the node's root directory */
    const char *as;              /* the owner of the files */
};
/* Adds the steps that put all files of the list on the node. Their failures are FAIL_INPUT_...,
 * FAIL_PACKAGE or FAIL_NO_ROOM. */
void inputs_add(const struct inputs *in, const struct input_list *list);

/* Whether the failure is one of inputs_add(). */
bool inputs_failed(const struct failure *why);

#endif
