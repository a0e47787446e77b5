/* SPDX-License-Identifier: MIT
 *
 * Copying files to a node, as steps of a script (script.h).
 */
#ifndef SCHEDULER_FLEET_COPY_COPY_STEP_H
#define SCHEDULER_FLEET_COPY_COPY_STEP_H

#include "scheduler/fleet/copy/copy_file.h"
#include "scheduler/fleet/script/script.h"

/* Puts a file at `path` on the node. Texts are borrowed, as in other steps; the content of `what`
 * must outlive the script. */
void script_put_file(struct script *, struct arena *, const struct script_label *,
                     const struct carry_what *what);
/* Makes the directory `path`, below the node root, from an archive. If the directory exists,
 * nothing is sent. `as` and `mode` are ignored. */
void script_put_archive(struct script *, struct arena *, const struct script_label *,
                        const struct carry_what *what);
struct input_blob;

/* Selects the files of a container. */
struct put_which {
    const char *prefix; /* the common beginning of their names */
    const struct input_blob *aside;
    /* blobs whose names are not file names, in addition to the blobs of the folder */
    size_t n_aside;
    const struct archived_blob *archived; /* these fail the step; sorted by name */
    size_t n_archived;
};
/* Puts the files below the directory `path`: the files of the folder from.share, or of the
 * container at `url`. "a//b" becomes "a/b". A blob that cannot be a file there fails the step with
 * its name. A blob that ends in a slash and has no bytes marks a directory and is skipped. */
void script_put_all(struct script *, struct arena *, const struct script_label *,
                    const struct carry_what *what, const struct put_which *which);

#endif
