/* SPDX-License-Identifier: MIT
 *
 * Where the output of a job lies: the one place that knows the layout
 *
 *   <stdOutErrPathPrefix>/<segment>/stdouterr
 *   <pathPrefix>/<segment>/outputs[/<pathSuffix>]
 *   <pathPrefix>[/<pathSuffix>]                        with createNew false (2017, 2018-03)
 *
 * Prefixes hold variables ($AZ_BATCHAI_MOUNT_ROOT/...); who runs the job expands them, who lists
 * its files looks for the share that they are on.
 */
#ifndef MODEL_JOB_OUTPUT_H
#define MODEL_JOB_OUTPUT_H

#include "model/spec.h"

struct job_output {
    const char *id;     /* "stdouterr", or of outputDirectories */
    const char *prefix; /* as the job gives it */
    const char *below;  /* relative to the prefix; "" is the prefix itself */
    bool as_is;         /* the job's owner makes it, not the service */
};

/* How many a job has: the standard streams' and its outputDirectories. */
size_t job_output_count(const struct job_spec *spec);
/* The i-th of them, the standard streams' first; texts are the spec's or the arena's. */
struct job_output job_output_at(struct arena *a, const struct job_spec *spec, size_t i);
/* The one of this id; "stdouterr" in any case, as the service had it. False: the job has none. */
bool job_output_find(struct arena *a, const struct job_spec *spec, const char *id,
                     struct job_output *out);
/* Whether it is that of the standard streams. */
bool job_output_is_std(const struct job_output *o);

#endif
