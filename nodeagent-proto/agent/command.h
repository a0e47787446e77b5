/* SPDX-License-Identifier: MIT
 *
 * The command of a task: its environment, and the way from a forked child to the shell.
 */
#ifndef NODEAGENT_PROTO_AGENT_COMMAND_H
#define NODEAGENT_PROTO_AGENT_COMMAND_H

#include <sys/types.h>

#include "nodeagent-proto/task.h"

/* Marks the processes of a task, so that they are found when their supervisor is gone. The value
 * is "<incarnation>/<task id>". */
#define COMMAND_MARKER "BATCHAI_NODE_TASK"

/* A few inherited variables, the marker ("NAME=value"), then the task's own. Ends with NULL. */
char **command_environment(const struct task_spec *spec, const char *marker);
/* Wipes and frees; the environment may hold secrets. */
void command_environment_free(char **env);

/* In a fresh child of `supervisor`: becomes the command, or writes why not to `why_fd` (which an
 * exec closes) and exits. Dies with its supervisor. */
_Noreturn void command_become(const struct task_spec *spec, char **env, int why_fd,
                              pid_t supervisor);

#endif
