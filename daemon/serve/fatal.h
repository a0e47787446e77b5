/* SPDX-License-Identifier: MIT
 *
 * Signals that end the process because of its own faults: SIGSEGV, SIGBUS, SIGILL, SIGFPE, and
 * SIGABRT of abort() and asserts. The work in progress is recorded (under_way.h), the stack goes to
 * standard error; then the process executes itself again with the same arguments, at most three
 * times in ten minutes, or ends by the signal as usual. The process id stays the same, for the
 * parent that waits for it.
 *
 * Signals from other processes, and an end because memory or disk is full (work_give_up()), are not
 * the fault of any work: nothing is recorded, and the signal has its usual effect.
 */
#ifndef DAEMON_SERVE_FATAL_H
#define DAEMON_SERVE_FATAL_H

#include <stdbool.h>

/* Call it on the loop's thread. `go_again`: after a fault the process executes its program again;
 * false: it ends, and a service manager restarts it. */
void fatal_watch(bool go_again);
/* Calls abort(), because the loop no longer turns. */
_Noreturn void fatal_stuck(void);
/* From here on a fatal signal only ends the process. */
void fatal_unwatch(void);

#endif
