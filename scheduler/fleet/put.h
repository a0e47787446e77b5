/* SPDX-License-Identifier: MIT
 *
 * Files of the daemon's on their way to a node, over its link, piece by piece: steps of a script
 * (script.h).
 */
#ifndef SCHEDULER_FLEET_PUT_H
#define SCHEDULER_FLEET_PUT_H

#include "files/files.h"
#include "scheduler/fleet/script.h"

/* Puts the file `from` at `path` on the node, as `as`, with this mode. Texts are borrowed, as those
 * of other steps; `files` must outlive the script. */
struct put_file {
    struct files *files;
    struct file_place from;
    const char *as, *path;
    int mode;
};
void script_put_file(struct script *, struct arena *, const struct script_label *,
                     const struct put_file *put);
/* Makes the directory `path`, below the node root, of what is in the archive `from`, unless it is
 * there: then nothing is sent. `as` and `mode` mean nothing. */
void script_put_archive(struct script *, struct arena *, const struct script_label *,
                        const struct put_file *put);

#endif
