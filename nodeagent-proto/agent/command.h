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

/* Marks the processes of a task, so that they are found when their supervisor is gone. The value
 * is "<incarnation>/<task id>". */
#define COMMAND_MARKER "BATCHAI_NODE_TASK"

struct task_command { /* all borrowed */
    const struct task_spec *spec;
    struct outputs outputs; /* the command also runs as its account, if the task has a user */
    const struct cgroup *cgroup;
    bool in_cgroup;
    int rules; /* of spec->confine; -1: it is not confined */
    char **env;
    int why_fd;
    pid_t supervisor;
    struct arena
        *arena; /* what an exec leaves behind, should the child be in its parent's memory */
};

/* First the variables of the account or, without one (NULL), a few inherited variables and the
 * numbers of `files_as` (may be NULL); then the task's own; then the marker ("NAME=value"). Ends
 * with NULL. */
char **command_environment(const struct task_spec *spec, const struct account *account,
                           const struct account *files_as, const char *marker);
/* Wipes and frees; the environment may hold secrets. */
void command_environment_free(char **env);

/* What begins the reason of a command that did not begin: its program does not exist, or another.
 */
enum command_failure { COMMAND_NO_PROGRAM = 'P', COMMAND_FAILED = 'F' };

/* Called in a fresh child of `supervisor`: becomes the command, or writes the reason to `why_fd`
 * (which an exec closes), an enum command_failure and a text, and exits. Dies with its supervisor.
 */
_Noreturn void command_become(const struct task_command *c);

/* In a child, before an exec: all signals at their default, none blocked. */
void command_default_signals(void);
/* In a supervisor, whose children become commands: those that are not meant for it are ignored, all
 * others at their default. */
void command_ignore_signals(void);
/* Returns only if the program cannot be executed: whether there is none. An argument list ends with
 * a NULL. What an exec leaves behind is in the arena. */
enum command_failure command_exec_argv(char *const *argv, char **env, struct arena *a,
                                       struct err *e);
/* As `bash -c` would (sh where there is no bash), and without one where that makes no difference
 * (simple_command.h). Returns only if the shell cannot be executed. */
void command_exec_shell(const char *command_line, char **env, struct arena *a, struct err *e);

#endif
