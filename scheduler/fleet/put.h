/* SPDX-License-Identifier: MIT
 *
 * Files on their way to a node as steps of a script (script.h).
 */
#ifndef SCHEDULER_FLEET_PUT_H
#define SCHEDULER_FLEET_PUT_H

#include "scheduler/fleet/carry.h"
#include "scheduler/fleet/script.h"

/* Puts a file at `path` on the node. Texts are borrowed, as those of other steps; what is in `what`
 * must outlive the script. */
void script_put_file(struct script *, struct arena *, const struct script_label *,
                     const struct carry_what *what);
/* Makes the directory `path`, below the node root, of what is in an archive, unless it is there:
 * then nothing is sent. `as` and `mode` mean nothing. */
void script_put_archive(struct script *, struct arena *, const struct script_label *,
                        const struct carry_what *what);
/* Puts every file of a container whose name begins with `prefix` below the directory `path`: of the
 * folder from.share, or of the one that `url` leads to. */
void script_put_all(struct script *, struct arena *, const struct script_label *,
                    const struct carry_what *what, const char *prefix);

#endif
