/* SPDX-License-Identifier: MIT
 *
 * Files on their way to a node as steps of a script (script.h).
 */
#ifndef SCHEDULER_FLEET_COPY_COPY_STEP_H
#define SCHEDULER_FLEET_COPY_COPY_STEP_H

#include "scheduler/fleet/copy/copy_file.h"
#include "scheduler/fleet/script/script.h"

/* Puts a file at `path` on the node. Texts are borrowed, as those of other steps; what is in `what`
 * must outlive the script. */
void script_put_file(struct script *, struct arena *, const struct script_label *,
                     const struct carry_what *what);
/* Makes the directory `path`, below the node root, of what is in an archive, unless it is there:
 * then nothing is sent. `as` and `mode` mean nothing. */
void script_put_archive(struct script *, struct arena *, const struct script_label *,
                        const struct carry_what *what);
struct input_blob;

/* Which files of a container. */
struct put_which {
    const char *prefix; /* their names begin with it */
    const struct input_blob *aside;
    size_t n_aside; /* besides those of the folder */
};
/* Puts each of these files below the directory `path`: of the folder from.share, or of the one that
 * `url` leads to. "a//b" becomes "a/b". A blob that can be no file there fails the step, which
 * names it; only one that ends in a slash and has no bytes, which stands for a directory, is passed
 * over. */
void script_put_all(struct script *, struct arena *, const struct script_label *,
                    const struct carry_what *what, const struct put_which *which);

#endif
