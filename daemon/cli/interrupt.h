/* SPDX-License-Identifier: MIT
 *
 * Signals that end a command wait until it has removed its temporary files.
 */
#ifndef DAEMON_CLI_INTERRUPT_H
#define DAEMON_CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM and SIGHUP are noted; a second SIGINT, for example, ends the
 * process. */
void interrupt_catch(void);

bool interrupt_seen(void);

/* Ends interrupt_catch(). A noted signal takes effect here. */
void interrupt_release(void);

#endif
