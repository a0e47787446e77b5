/* SPDX-License-Identifier: MIT
 *
 * Signals that a command of the task's own carries on (task_spec.signal_command), to where kill(2)
 * does not reach: into a container. Each runs by itself, as the task's account and with its
 * environment, for at most 10 s; nothing waits for one but the end of the task.
 */
#ifndef NODEAGENT_PROTO_AGENT_RELAY_H
#define NODEAGENT_PROTO_AGENT_RELAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nodeagent-proto/agent/account.h"

#define RELAY_MAX 4 /* at once; one more makes the oldest give way */

struct relay {
    const char *command;           /* borrowed, like the next two; NULL: there is none */
    char *const *env;              /* of the task */
    const struct account *account; /* NULL: the agent's own */
    bool kill_sent;                /* SIGKILL was carried on once */
    pid_t pid[RELAY_MAX];          /* oldest first; 0: free */
    int64_t limit_ms[RELAY_MAX];   /* monotonic */
};

/* Runs the command with that number in BATCHAI_SIGNAL. */
void relay_send(struct relay *r, int signo);
/* True if `pid`, which was reaped, was one of these. */
bool relay_reaped(struct relay *r, pid_t pid);
bool relay_is_busy(const struct relay *r);
/* Kills those whose time is up. Returns when to come again (monotonic ms), 0 if there is no need.
 */
int64_t relay_tick(struct relay *r);

#endif
