/* SPDX-License-Identifier: MIT
 *
 * Children of a process that has executed itself again: agents of the daemon that it was, which
 * end when they find their pipes closed. Somebody has to ask how they ended, or they stay as
 * zombies.
 */
#ifndef DAEMON_SERVE_ORPHANS_H
#define DAEMON_SERVE_ORPHANS_H

/* Remembers the children that there are: before the process has any of its own. */
void orphans_find(void);
/* Forgets those that have ended. Cheap if there are none. */
void orphans_reap(void);

#endif
