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

/* What a start has made; both are owned. */
struct open_place {
    char *made; /* the new place; NULL: none */
    char *gone; /* the earlier place, which is there no more and had all shares; NULL: none */
};

/* The first parent directory of `path` that is closed to others; caller frees. NULL: there is
 * none. */
char *open_place_closed(const char *path);
/* Moves existing content to the place, and changes the paths in `s`. The caller calls
 * open_place_free(), also after an error. ERR_CONFIG: no place can be used, or others can change
 * the place that is in use. The caller must hold the lock of the state directory. */
int open_place_make(struct state *s, bool ephemeral, struct open_place *made,
                    struct err *e) MUST_CHECK;
void open_place_free(struct open_place *p);
/* The place that a state directory uses; caller frees. NULL: it uses none. */
char *open_place_of(const char *state_dir);

#endif
