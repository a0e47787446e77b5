/* SPDX-License-Identifier: MIT
 *
 * Children of a process that has executed itself again: agents of the former daemon, which end when
 * their pipes close. They must be waited for, or they stay as zombies.
 */
#ifndef DAEMON_SERVE_ORPHANS_H
#define DAEMON_SERVE_ORPHANS_H

/* Records the present children: call it before the process has new ones. */
void orphans_find(void);
/* Reaps those that have ended. Cheap if there are none. */
void orphans_reap(void);

#endif
