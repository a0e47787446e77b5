/* SPDX-License-Identifier: MIT
 *
 * Writes notes about a task into its run's log (task_spec.log_path). A failure to write the log
 * does not fail the task.
 */
#ifndef NODEAGENT_PROTO_AGENT_TASKLOG_H
#define NODEAGENT_PROTO_AGENT_TASKLOG_H

#include <stdint.h>
#include <sys/types.h>

#include "nodeagent-proto/agent/outputs.h"
#include "nodeagent-proto/wire/task.h"

struct tasklog { /* borrowed */
    const struct task_spec *spec;
    const char *hostname;
    struct outputs outputs;
};

/* Writes one line; control characters in `text` are escaped. */
void tasklog_note(const struct tasklog *l, int64_t when_us, const char *text);
void tasklog_start(const struct tasklog *l, int64_t when_us, pid_t command);
/* `killed`: how many leftover processes of the task had to be killed. */
void tasklog_end(const struct tasklog *l, const struct task_status *t, int killed);

#endif
