/* SPDX-License-Identifier: MIT
 *
 * Delays signals that end a command until it has removed its temporary files.
 */
#ifndef DAEMON_CLI_INTERRUPT_H
#define DAEMON_CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM and SIGHUP are only noted. If the same signal arrives again, it ends
 * the process. */
void interrupt_catch(void);

bool interrupt_seen(void);

/* Ends interrupt_catch(). A signal that was noted now ends the process. */
void interrupt_release(void);

/* Ends interrupt_catch() too, but the process goes on. Returns whether a signal was noted. */
bool interrupt_take(void);

#endif
