/* SPDX-License-Identifier: MIT
 *
 * Terminals: somebody outside runs a command, a shell, or a connection to a port, beside the
 * processes of a run on one of its nodes. The daemon is the near end of a remote command
 * (nodeagent-proto/wire/remote.h); the far end is a task of the run, found by the prefix of its id
 * as in remote.h. This task ends with the terminal, and at latest with the run; only the terminal
 * gets its exit code.
 *
 * A terminal survives a short break of the link, but not a restart of the daemon. A far end whose
 * session the daemon does not know is told that its user has left. A far end that receives no
 * messages ends by itself.
 */
#ifndef SCHEDULER_RUN_TERMINAL_H
#define SCHEDULER_RUN_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"
#include "nodeagent-proto/wire/remote.h"

struct live_run;
struct run_slot;
struct runs;
struct task_status;
struct terminal;

struct terminal_ask {
    const char *node; /* name, address, host name or rank of a node of the run; NULL: the first */
    const char *command; /* shell command; "": a shell */
    const char *tty;     /* "ROWS COLUMNS TERM"; NULL: the command gets pipes */
    int port;            /* not 0: a connection to this port of the node instead of a command */
};

struct terminal_end {
    const char *why; /* NULL: the command ended, with this status */
    int exit_code, signal;
};

enum terminal_taken {
    /* got() did not take the bytes and gets them again after terminal_drained() */
    TERMINAL_NO_ROOM,
    /* got() has kept the bytes and calls terminal_drained() later; until then at most 8 messages
     * follow */
    TERMINAL_KEPT,
    TERMINAL_DONE
};

/* Called from the loop, not inside of terminal_open(), _put(), _drained() and _close(). */
struct terminal_events {
    enum terminal_taken (*got)(void *ctx, enum remote_channel channel, const char *bytes, size_t n);
    void (*room)(void *ctx); /* there may be room again */
    /* The terminal is gone. Also called by terminals_leave(). */
    void (*ended)(void *ctx, const struct terminal_end *end);
};

/* ERR_CONFLICT: the run is not on its nodes now; ERR_INVALID_PROPERTY: it has no such node. */
int terminal_open(struct runs *rs, int64_t run_id, const struct terminal_ask *ask,
                  const struct terminal_events *events, void *ctx, struct terminal **out,
                  struct err *e) MUST_CHECK;
/* The name of the terminal's node; borrowed. */
const char *terminal_node(const struct terminal *t);
/* terminal_has_room(): for REMOTE_STDIN. For REMOTE_CONTROL there is also room while the command
 * does not read its input. */
bool terminal_has_room(const struct terminal *t);
bool terminal_has_room_to_control(const struct terminal *t);
/* Sends bytes of REMOTE_STDIN or REMOTE_CONTROL, at most REMOTE_BYTES_MAX; 0 bytes of REMOTE_STDIN
 * are its end. Call it only if there is room for them. */
void terminal_put(struct terminal *t, enum remote_channel channel, const char *bytes, size_t n);
/* Call when the bytes that got() has kept were passed on. */
void terminal_drained(struct terminal *t);
/* Call about every second: asks a silent far end for a message, and ends the terminal if the far
 * end stays silent too long. */
void terminal_look(struct terminal *t);
/* Kills the command; no event follows. */
void terminal_close(struct terminal *t);

/* --- for the runs ----------------------------------------------------------------------------- */
/* Handles a message of a far end to the daemon. */
void terminal_hear(struct run_slot *slot, const struct remote_msg *m);
/* Handles the end of a task of a terminal. False: the task is not of a terminal, and nothing was
 * done. */
bool terminal_task_ended(struct run_slot *slot, const struct task_status *st);
/* Call when the run is being freed: ends its terminals. */
void terminals_leave(const struct live_run *run);

#endif
