/* SPDX-License-Identifier: MIT
 *
 * The command of a task: its environment, and the way from a forked child to the shell.
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

/* Marks the processes of a task, so that they can be found after their supervisor died. The value
 * is "<incarnation>/<task id>". */
#define COMMAND_MARKER "BATCHAI_NODE_TASK"

struct task_command { /* all borrowed */
    const struct task_spec *spec;
    struct outputs outputs; /* if the task has a user, the command runs as outputs.account */
    const struct cgroup *cgroup;
    bool in_cgroup;
    int rules; /* descriptor of the rules for spec->confine; -1: the command is not confined */
    char **env;
    int why_fd;
    pid_t supervisor;
    /* the child's allocations; they outlive an exec if the child runs in its parent's memory */
    struct arena *arena;
};

/* The order: first the variables of the account; without an account (NULL), a few inherited
 * variables and the numbers of `files_as` (may be NULL). Then the variables of the task. Then the
 * marker ("NAME=value"). Ends with NULL. */
char **command_environment(const struct task_spec *spec, const struct account *account,
                           const struct account *files_as, const char *marker);
/* Wipes and frees the environment, because it may hold secrets. */
void command_environment_free(char **env);

/* The first letter of the reason why a command did not start: its program does not exist, or
 * another failure. */
enum command_failure { COMMAND_NO_PROGRAM = 'P', COMMAND_FAILED = 'F' };

/* Called in a fresh child of `supervisor`. Becomes the command; otherwise writes the reason to
 * `why_fd` (which an exec closes), an enum command_failure and a text, and exits. The child dies
 * with its supervisor. */
_Noreturn void command_become(const struct task_command *c);

/* In a child, before an exec: sets all signals to their default and unblocks them. */
void command_default_signals(void);
/* For a supervisor; its children become commands. Ignores signals that are meant for the job
 * (not_ours in command.c), and sets all others to their default. */
void command_ignore_signals(void);
/* Returns only if the program cannot be executed: whether the program is missing or failed. An
 * argument list ends with a NULL. The arena holds the allocations that an exec leaves behind. */
enum command_failure command_exec_argv(char *const *argv, char **env, struct arena *a,
                                       struct err *e);
/* Executes the line like `bash -c` (`sh -c` without bash), or without a shell where this makes no
 * difference (simple_command.h). Returns only if the shell cannot be executed. */
void command_exec_shell(const char *command_line, char **env, struct arena *a, struct err *e);

#endif
