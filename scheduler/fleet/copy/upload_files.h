/* SPDX-License-Identifier: MIT
 *
 * Uploads files of a node into a container of blobs, by HTTP, as a step of a script: finds the
 * files that match a pattern, reads each file piece by piece, and uploads it as one blob. The step
 * may be repeated: an existing blob is replaced.
 */
#ifndef SCHEDULER_FLEET_COPY_UPLOAD_FILES_H
#define SCHEDULER_FLEET_COPY_UPLOAD_FILES_H

#include "model/glob.h"
#include "model/spec.h"
#include "scheduler/fleet/script/script.h"
#include "scheduler/fleet/transfer/transfer.h"

/* The parameters of an upload. Texts are borrowed, as in other steps. */
struct upload {
    struct transfers *transfers;
    const struct output_file *file;
    const char *as;      /* the account whose rights read the files */
    const char *base;    /* nothing outside this directory is read, not even by links */
    const char *from;    /* the directory of a relative pattern */
    const char *pattern; /* with its variables replaced */
    const char *log;     /* a file on the node that gets a line for each uploaded or missing file */
    const char *errors;  /* a file on the node that gets a line for a failure */
};
/* Adds the step. Its failures are FAIL_OUTPUT_... A pattern without matches is not a failure. */
void script_upload(struct script *, struct arena *, const struct upload *what);

#endif
