/* SPDX-License-Identifier: MIT
 *
 * A place for the nodes and shares of root's daemon whose state directory is below a directory that
 * is closed to others, as /root is: accounts of jobs could not get there. It is a directory of root
 * below /var/lib/batchaid or /run (of a daemon that is ephemeral: the other way round), and the
 * state directory has links to it: `open` to the whole, `nodes` and `storage` to what is in it.
 */
#ifndef DAEMON_CONFIG_OPEN_PLACE_H
#define DAEMON_CONFIG_OPEN_PLACE_H

#include <stdbool.h>

#include "daemon/config/state.h"

/* The first directory above `path` that is closed to others; caller frees. NULL: there is none. */
char *open_place_closed(const char *path);
/* Moves what is there already, and changes the paths in `s`; *made: the place, if it is new, which
 * the caller frees. ERR_CONFIG, if there is none. Call it with the lock of the state held. */
int open_place_make(struct state *s, bool ephemeral, char **made, struct err *e) MUST_CHECK;
/* The place of a state directory; caller frees. NULL: it has none. */
char *open_place_of(const char *state_dir);

#endif
