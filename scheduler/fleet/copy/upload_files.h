/* SPDX-License-Identifier: MIT
 *
 * Files of a node on their way into a container of blobs, by HTTP, as a step of a script: those
 * that match a pattern are found, and each is read piece by piece and put whole. Repeatable: a blob
 * is put anew.
 */
#ifndef SCHEDULER_FLEET_COPY_UPLOAD_FILES_H
#define SCHEDULER_FLEET_COPY_UPLOAD_FILES_H

#include "model/glob.h"
#include "model/spec.h"
#include "scheduler/fleet/script/script.h"
#include "scheduler/fleet/transfer/transfer.h"

/* Texts are borrowed, as those of other steps. */
struct upload {
    struct transfers *transfers;
    const struct output_file *file;
    const char *as;      /* whose rights the files are read with */
    const char *base;    /* nothing outside is read, not even by links */
    const char *from;    /* what a relative pattern is below */
    const char *pattern; /* with its variables replaced */
    const char *log;     /* on the node: a line for each file, and for a failure; */
    const char *errors;  /* the latter here too */
};
/* Its failure is one of those with FAIL_OUTPUT_... A pattern that nothing matches is none. */
void script_upload(struct script *, struct arena *, const struct upload *what);

#endif
