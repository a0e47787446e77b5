/* SPDX-License-Identifier: MIT
 *
 * Signals that end a command wait until it has removed what it made for a time.
 */
#ifndef DAEMON_CLI_INTERRUPT_H
#define DAEMON_CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM and SIGHUP are noted; a second SIGINT, for example, ends the
 * process. */
void interrupt_catch(void);

bool interrupt_seen(void);

/* Ends what interrupt_catch() began. A noted signal takes effect here. */
void interrupt_release(void);

#endif
