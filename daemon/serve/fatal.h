/* SPDX-License-Identifier: MIT
 *
 * The signals that end the process because of what it does itself: SIGSEGV, SIGBUS, SIGILL, SIGFPE,
 * and SIGABRT of abort() and asserts. What was under way is noted (under_way.h), the stack goes to
 * standard error; then the process executes itself again with the same arguments, three times in
 * ten minutes at most, or ends by the signal as ever. The process stays the same, for whoever
 * started it and waits for it.
 *
 * What others send, and an end for want of memory or disk (work_give_up()), are no fault of any
 * work: nothing is noted, and the signal does what it does.
 */
#ifndef DAEMON_SERVE_FATAL_H
#define DAEMON_SERVE_FATAL_H

#include <stdbool.h>

/* On the loop's thread. `go_again`: else somebody else starts it again. */
void fatal_watch(bool go_again);
/* abort(), because the loop stands still. */
_Noreturn void fatal_stuck(void);
/* From here on a signal ends the process only. */
void fatal_unwatch(void);

#endif
