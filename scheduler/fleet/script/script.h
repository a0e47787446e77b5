/* SPDX-License-Identifier: MIT
 *
 * Steps carried out on one node, one after the other, over its link: directories, mounts, files,
 * accounts, commands. Preparations, starts and cleanings of runs, and releases of nodes consist of
 * such steps.
 *
 * Consecutive requests are sent at once, because a node carries them out in order; the script waits
 * for commands (tasks on the node), unmounts, and changes to accounts. The first failing step ends
 * the script, unless the step may fail. Every step must be safe to repeat: after a broken link the
 * owner makes a new script and runs it from the beginning. A command whose record is kept runs once
 * for its id, even after a crash.
 *
 * A script and its arguments live in the owner's arena, which must last until the link is closed or
 * script_busy() is false. No callback runs inside script_run().
 */
#ifndef SCHEDULER_FLEET_SCRIPT_SCRIPT_H
#define SCHEDULER_FLEET_SCRIPT_SCRIPT_H

#include <stdbool.h>

#include "lib/arena.h"
#include "lib/log.h"
#include "model/failure.h"
#include "nodeagent-proto/link/node.h"

struct script;

/* Maps the error of a request to a failure code. */
struct script_cause {
    int kind; /* enum err_code */
    enum failure_code code;
};

/* The name of a step, and texts for its failure. The struct is copied, texts are borrowed. */
struct script_label {
    enum failure_code code; /* code of the failure: FAIL_AZF_MOUNT_ERROR, ... */
    /* other codes for some errors, ended by one of kind 0; NULL: none */
    const struct script_cause *causes;
    const char *what;    /* for messages: "mount of share acct/data at data" */
    const char *remedy;  /* NULL: no remedy is known */
    const char *command; /* shown instead of a command's text; NULL: the text */
    bool on_node;  /* the step touches only files of the node: a failure is the node's fault */
    bool may_fail; /* a failure is logged, and the script continues */
};

enum script_state {
    SCRIPT_RUNNING, /* also before script_run() */
    SCRIPT_DONE,
    SCRIPT_FAILED
};

/* `node` is the node's name in failures and in the log. */
struct script *script_new(struct arena *a, const struct log *log, const char *node);

/* The purpose of the script's steps, as a name and an id that a restart does not change. A step
 * that has crashed the daemon before fails, and is not tried again (lib/work.h). By default: the
 * node's name. */
void script_about(struct script *, const char *name, const char *id);

/* --- adding steps; texts and arrays are borrowed -----------------------------------------------
 */
/* Adds a request, copied with its list of paths: script_ask(sc, &label, REQUEST(append, ...)). See
 * node_ask(). */
void script_ask(struct script *, const struct script_label *, const struct node_request *r);
/* Sends SIGKILL to every running task whose id begins with `prefix` ("": all), except tasks whose
 * ids begin with `except` (NULL: none), and waits until each killed task has ended. `forget`: the
 * node forgets the ended tasks with this prefix. *`found` (may be NULL) is set to true if the node
 * has a task whose id begins with `except`. */
void script_kill_tasks(struct script *, const struct script_label *, const char *prefix,
                       const char *except, bool forget, bool *found);
/* Like script_kill_tasks(), for all tasks except those whose ids begin with one of `known`; the
 * node forgets the other tasks that have ended. */
void script_kill_unknown(struct script *, const struct script_label *, const char *const *known,
                         size_t n);
/* *`found` is set to true if the node has the task, running or ended. */
void script_find_task(struct script *, const struct script_label *, const char *task_id,
                      bool *found);
/* Adds a mark. If *`skip` is true when the script reaches it, the steps up to the next mark are
 * skipped; `skip` NULL: none is skipped. */
void script_skip_if(struct script *, const bool *skip);
/* Runs a command. Exit code 0 is success; any other end is a failure with exit code, signal and the
 * last part of stderr. `spec` is copied, its texts are borrowed. `keep_record`: the node remembers
 * the task, so that it never runs again under this id; otherwise the node forgets the task when it
 * has ended. */
void script_command(struct script *, const struct script_label *, const struct task_spec *spec,
                    bool keep_record);
/* For the command that was added last: when it has ended with exit code 0, *`said` gets the last
 * part of its stderr. */
void script_hear(struct script *, const char **said);

/* A step that other code carries out over the link. */
struct script_turn;
struct script_work {
    /* Begins the step; script_turn_end() ends it, once, and never inside this call. */
    void (*begin)(void *ctx, struct node_link *link, struct script_turn *turn);
    /* Called when the script is halted before script_turn_end(): then `turn` is invalid, and the
     * script's arena may be freed. */
    void (*halt)(void *ctx);
    void *ctx;
};
void script_work(struct script *, const struct script_label *, const struct script_work *work);
void script_turn_end(struct script_turn *turn, const struct err *why);

/* --- running ------------------------------------------------------------------------------------
 */

/* Carries the steps out. Callbacks of the link call `changed` whenever the state has changed or the
 * last request was answered; `changed` should only wake the owner. */
void script_run(struct script *, struct node_link *link, void (*changed)(void *ctx), void *ctx);
enum script_state script_state(const struct script *);
/* Whether every request was sent, so that requests made now are carried out after the script's. */
bool script_all_sent(const struct script *);
/* Whether replies to requests are still pending. */
bool script_busy(const struct script *);
/* Why the script failed. script_nodes_fault(): whether the failure concerns the node rather than
 * the request. */
const struct failure *script_failure(const struct script *);
bool script_nodes_fault(const struct script *);
/* A task of the node has ended: true if it was the command that the script waits for. */
bool script_task_ended(struct script *, const struct task_status *st);
/* A task that script_kill_tasks() has killed and whose end it awaits; NULL: none. A task that hangs
 * in the kernel may never end, so the owner of the script sets a limit. */
const char *script_awaits_end_of(const struct script *);
/* Halts the script because the link is closing or the script is not needed any more: nothing more
 * is sent, `changed` is not called, and late replies are dropped. */
void script_halt(struct script *);

#endif
