/* SPDX-License-Identifier: MIT
 *
 * The command of a task: its environment, and the steps from a forked child to the running shell.
 */
#ifndef NODEAGENT_PROTO_AGENT_COMMAND_H
#define NODEAGENT_PROTO_AGENT_COMMAND_H

#include <sys/types.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"
#include "nodeagent-proto/agent/cgroup.h"
#include "nodeagent-proto/agent/outputs.h"
#include "nodeagent-proto/wire/task.h"

/* The name of a variable that marks the processes of a task, so that they can be found after their
 * supervisor died. The value is "<incarnation>/<task id>". */
#define COMMAND_MARKER "BATCHAI_NODE_TASK"

struct task_command { /* all borrowed */
    const struct task_spec *spec;
    struct outputs outputs; /* if the task has a user, the command runs as outputs.account */
    const struct cgroup *cgroup;
    bool in_cgroup;
    int rules; /* the descriptor of the rules for spec->confine; -1: not confined */
    char **env;
    int why_fd;
    pid_t supervisor;
    /* For the child's allocations. If the child runs in its parent's memory, they still exist after
     * its exec(). */
    struct arena *arena;
};

/* Makes the environment of a command, a list that ends with NULL. First come the variables of the
 * account or, if `account` is NULL, a few variables of the agent and the uid and gid of `files_as`
 * (may be NULL). Then come the variables of the task, and last the marker ("NAME=value"). */
char **command_environment(const struct task_spec *spec, const struct account *account,
                           const struct account *files_as, const char *marker);
/* Overwrites the environment, because it may contain secrets, and frees it. */
void command_environment_free(char **env);

/* The first letter of the reason why a command did not start: its program does not exist, or
 * another failure. */
enum command_failure { COMMAND_NO_PROGRAM = 'P', COMMAND_FAILED = 'F' };

/* Called in a new child of `supervisor`. Executes the command. If this fails, writes the reason to
 * `why_fd` (which exec() closes), as an enum command_failure and a text, and exits. The child is
 * killed when its supervisor ends. */
_Noreturn void command_become(const struct task_command *c);

/* To be called in a child before exec(): sets all signals to their default and unblocks them. */
void command_default_signals(void);
/* For a supervisor, whose children become commands. Ignores the signals that are sent to the job
 * (not_ours in command.c), and sets all others to their default. */
void command_ignore_signals(void);
/* Executes a program. Returns only if this fails: whether the program is missing, or another
 * failure. `argv` ends with a NULL. Allocations are made in the arena, which still exists after
 * exec() if the child runs in its parent's memory. */
enum command_failure command_exec_argv(char *const *argv, char **env, struct arena *a,
                                       struct err *e);
/* Executes the line like `bash -c` (`sh -c` without bash), or without a shell where this makes no
 * difference (simple_command.h). Returns only if the shell cannot be executed. */
void command_exec_shell(const char *command_line, char **env, struct arena *a, struct err *e);

#endif
