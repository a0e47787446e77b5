/* SPDX-License-Identifier: MIT
 *
 * Options of mounts, and which of them everybody may use: options that cannot refer to files and
 * programs of the node, and do not grant rights by the mount (suid, dev).
 */
#ifndef MODEL_MOUNT_OPTIONS_H
#define MODEL_MOUNT_OPTIONS_H

#include "lib/arena.h"

/* The first option for administrators only, in the arena; NULL: none. `options`: in a volume's
 * form, "-o" and its list, or arguments that begin with dashes; NULL: none. */
const char *mount_options_beyond(struct arena *a, const char *options);

#endif
