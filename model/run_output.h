/* SPDX-License-Identifier: MIT
 *
 * The place of a job's output. Only this file knows the layout:
 *
 *   <stdOutErrPathPrefix>/<segment>/stdouterr
 *   <pathPrefix>/<segment>/outputs[/<pathSuffix>]
 *   <pathPrefix>[/<pathSuffix>]                        with createNew false (2017, 2018-03)
 *
 * Prefixes contain variables ($AZ_BATCHAI_MOUNT_ROOT/...). The code that runs the job expands them;
 * the code that lists its files finds their share.
 */
#ifndef MODEL_JOB_OUTPUT_H
#define MODEL_JOB_OUTPUT_H

#include "model/spec.h"

struct run_output {
    const char *id;     /* "stdouterr", or an id of outputDirectories */
    const char *prefix; /* as in the job's document */
    const char *below;  /* relative to the prefix; "" is the prefix itself */
    bool as_is;         /* the job's owner makes the directory, not the service */
};

/* How many output directories a job has: one for the standard streams, and its
 * outputDirectories. */
size_t run_output_count(const struct run_spec *spec);
/* The i-th output directory; the first one has the standard streams. Texts are the spec's or in the
 * arena. */
struct run_output run_output_at(struct arena *a, const struct run_spec *spec, size_t i);
/* The output directory with this id. "stdouterr" is found in any case, as in the real service.
 * False: the job has no such directory. */
bool run_output_find(struct arena *a, const struct run_spec *spec, const char *id,
                     struct run_output *out);
/* Whether it is the directory of the standard streams. */
bool run_output_is_std(const struct run_output *o);

#endif
