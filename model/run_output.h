/* SPDX-License-Identifier: MIT
 *
 * The place of a job's output. Only this file defines the layout:
 *
 *   <stdOutErrPathPrefix>/<segment>/stdouterr
 *   <pathPrefix>/<segment>/outputs[/<pathSuffix>]
 *   <pathPrefix>[/<pathSuffix>]                        with createNew false (2017, 2018-03)
 *
 * Prefixes contain variables ($AZ_BATCHAI_MOUNT_ROOT/...). The code that runs the job expands the
 * variables; the code that lists the job's files finds the share that they stand for.
 */
#ifndef MODEL_JOB_OUTPUT_H
#define MODEL_JOB_OUTPUT_H

#include "model/spec.h"

struct run_output {
    const char *id;     /* "stdouterr", or an id of outputDirectories */
    const char *prefix; /* as the job's document contains it, with variables */
    const char *below;  /* relative to the prefix; "" is the prefix itself */
    bool as_is;         /* true: the job's owner makes the directory; false: the service does */
};

/* How many output directories a job has: one for the standard streams, and its
 * outputDirectories. */
size_t run_output_count(const struct run_spec *spec);
/* The i-th output directory; the first one contains the standard streams. Its texts are borrowed
 * from the spec or in the arena. */
struct run_output run_output_at(struct arena *a, const struct run_spec *spec, size_t i);
/* Finds the output directory with this id. "stdouterr" may be written in upper or lower case, as in
 * the real service. False: the job has no such directory. */
bool run_output_find(struct arena *a, const struct run_spec *spec, const char *id,
                     struct run_output *out);
/* True: `o` is the directory of the standard streams. */
bool run_output_is_std(const struct run_output *o);

#endif
