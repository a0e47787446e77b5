/* SPDX-License-Identifier: MIT
 *
 * A place for the nodes and shares of a root daemon whose state directory is below a directory that
 * is closed to others, such as /root: accounts of jobs could not reach it. The place is a directory
 * of root below /var/lib/batchaid or /run (for an ephemeral daemon in the other order), and the
 * state directory has links to it: `open` to the whole, `nodes` and `storage` to its parts.
 */
#ifndef DAEMON_CONFIG_OPEN_PLACE_H
#define DAEMON_CONFIG_OPEN_PLACE_H

#include <stdbool.h>

#include "daemon/config/state.h"

/* The first parent of `path` that is closed to others; caller frees. NULL: there is none. */
char *open_place_closed(const char *path);
/* Moves existing content to the place, and changes the paths in `s`. *made: the place, if it is
 * new; the caller frees it. ERR_CONFIG: no place can be used. Call it with the lock of the state
 * held. */
int open_place_make(struct state *s, bool ephemeral, char **made, struct err *e) MUST_CHECK;
/* The place of a state directory; caller frees. NULL: none. */
char *open_place_of(const char *state_dir);

#endif
