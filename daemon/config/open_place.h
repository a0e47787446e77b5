/* SPDX-License-Identifier: MIT
 *
 * A place for nodes and shares if the daemon runs as root, and its state directory is below a
 * directory that is closed to others, such as /root, so that the accounts of jobs could not reach
 * it. The place is a directory of root below /var/lib/batchaid, or else below /run (an ephemeral
 * daemon tries /run first). The state directory contains links: `open` to the place, `nodes` and
 * `storage` to its parts.
 */
#ifndef DAEMON_CONFIG_OPEN_PLACE_H
#define DAEMON_CONFIG_OPEN_PLACE_H

#include <stdbool.h>

#include "daemon/config/state.h"

/* The first parent directory of `path` that is closed to others; caller frees. NULL: there is
 * none. */
char *open_place_closed(const char *path);
/* Moves existing content to the place, and changes the paths in `s`. *made: the place if it is new,
 * else NULL; the caller frees it. ERR_CONFIG: no place can be used. The caller must hold the lock
 * of the state directory. */
int open_place_make(struct state *s, bool ephemeral, char **made, struct err *e) MUST_CHECK;
/* The place that a state directory uses; caller frees. NULL: it uses none. */
char *open_place_of(const char *state_dir);

#endif
