/* SPDX-License-Identifier: MIT
 *
 * Passes signals on, by a command of the task (task_spec.signal_command), to places that kill(2)
 * does not reach: into a container. Each command runs in a separate process, as the task's account
 * and with its environment, for at most 10 s; only the end of the task waits for it.
 */
#ifndef NODEAGENT_PROTO_AGENT_RELAY_H
#define NODEAGENT_PROTO_AGENT_RELAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nodeagent-proto/agent/account.h"

#define RELAY_MAX 4 /* so many commands run at once; a further command ends the oldest */

struct relay {
    const char *command;           /* borrowed, like the next two; NULL: signals need no command */
    char *const *env;              /* the task's environment */
    const struct account *account; /* NULL: the agent's account */
    bool kill_sent;                /* SIGKILL was passed on once */
    pid_t kill;                    /* the pid of the command that passes SIGKILL on; 0: none runs */
    pid_t pid[RELAY_MAX];          /* oldest first; 0: free */
    int64_t limit_ms[RELAY_MAX];   /* the commands' deadlines (monotonic ms) */
};

/* Runs the command with the signal's number in BATCHAI_SIGNAL. While a command passes SIGKILL on, a
 * further SIGKILL is ignored. */
void relay_send(struct relay *r, int signo);
/* Called with a reaped child. True if `pid` was a command of relay_send(). */
bool relay_reaped(struct relay *r, pid_t pid);
bool relay_is_busy(const struct relay *r);
/* Kills commands after their deadline. Returns when to call it again (monotonic ms); 0: never. */
int64_t relay_tick(struct relay *r);

#endif
