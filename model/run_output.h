/* SPDX-License-Identifier: MIT
 *
 * Where a job's output lies. This is the one place that knows the layout:
 *
 *   <stdOutErrPathPrefix>/<segment>/stdouterr
 *   <pathPrefix>/<segment>/outputs[/<pathSuffix>]
 *   <pathPrefix>[/<pathSuffix>]                        with createNew false (2017, 2018-03)
 *
 * Prefixes hold variables ($AZ_BATCHAI_MOUNT_ROOT/...). The code that runs the job expands them;
 * the code that lists its files finds the share that they are on.
 */
#ifndef MODEL_JOB_OUTPUT_H
#define MODEL_JOB_OUTPUT_H

#include "model/spec.h"

struct run_output {
    const char *id;     /* "stdouterr", or of outputDirectories */
    const char *prefix; /* as written in the job's document */
    const char *below;  /* relative to the prefix; "" is the prefix itself */
    bool as_is;         /* the job's owner makes the directory, not the service */
};

/* How many output directories a job has: one for the standard streams, and its outputDirectories.
 */
size_t run_output_count(const struct run_spec *spec);
/* The i-th of them; the one for the standard streams is first. Texts are the spec's or the arena's.
 */
struct run_output run_output_at(struct arena *a, const struct run_spec *spec, size_t i);
/* The output directory with this id. "stdouterr" is found in upper or lower case, as the service
 * did. False: the job has no such directory. */
bool run_output_find(struct arena *a, const struct run_spec *spec, const char *id,
                     struct run_output *out);
/* Whether it is the one for the standard streams. */
bool run_output_is_std(const struct run_output *o);

#endif
