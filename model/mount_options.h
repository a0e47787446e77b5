/* SPDX-License-Identifier: MIT
 *
 * Options of mounts, and which of them anybody may give: those that can neither name files and
 * programs of the node nor make the mount give rights (suid, dev).
 */
#ifndef MODEL_MOUNT_OPTIONS_H
#define MODEL_MOUNT_OPTIONS_H

#include "lib/arena.h"

/* The first option that is an administrator's, in the arena; NULL: there is none. `options`: as a
 * volume has them, "-o" and its list or arguments that begin with dashes; NULL: none. */
const char *mount_options_beyond(struct arena *a, const char *options);

#endif
