/* SPDX-License-Identifier: MIT
 *
 * Messages of remote commands: a process of a job (the near end) runs a command on another node of
 * its job (in the far end's process), through both nodes' agents and the daemon between them.
 *
 * near end -- socket -- agent -- link -- daemon -- link -- agent -- socket -- far end -- command
 *
 * For a terminal (scheduler/run/terminal.h) the daemon itself is the near end.
 *
 * Agents and daemon only pass messages on; they keep none and may drop any. The two ends number the
 * messages that must arrive (stream.h) and request lost messages again. So a session survives a
 * restart of an agent or the daemon. On the socket and on the links, a message is a frame with an
 * event called "remote".
 */
#ifndef NODEAGENT_PROTO_WIRE_REMOTE_H
#define NODEAGENT_PROTO_WIRE_REMOTE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

#define REMOTE_EVENT       "remote"
#define REMOTE_BYTES_MAX   32768U /* bytes of data in one message */
#define REMOTE_SESSION_MAX 32U    /* characters: [a-z0-9] */
#define REMOTE_TEXT_MAX    1024U  /* the most bytes of a host or a reason */
/* The frame of the longest message, with reserve: longer frames are refused before they are
 * read. */
#define REMOTE_FRAME_MAX (REMOTE_BYTES_MAX + 16384U)

/* The rank of the daemon as a near end. Its far ends end when the daemon is silent too long, and
 * when their command has ended. */
#define REMOTE_DAEMON 1000000
/* ms; either end of such a session ends the session after so long without a message from the other
 * end */
#define REMOTE_SILENT_MAX_MS 20000

/* Variables of processes. REMOTE_SOCKET_VARIABLE: the socket. The others are for far ends only.
 * REMOTE_SESSION_VARIABLE: "RANK-SESSION" of the near end. REMOTE_SFTP_VARIABLE: the far end serves
 * files, whatever its command is. For a far end of the daemon: REMOTE_TTY_VARIABLE gives the
 * command a terminal of "ROWS COLUMNS TERM"; with REMOTE_PORT_VARIABLE there is no command, but a
 * connection to this port of the node. */
#define REMOTE_SOCKET_VARIABLE  "JOB_SSH_SOCKET"
#define REMOTE_SESSION_VARIABLE "JOB_SSH_SESSION"
#define REMOTE_SFTP_VARIABLE    "JOB_SSH_SFTP_ONLY"
#define REMOTE_TTY_VARIABLE     "JOB_SSH_TTY"
#define REMOTE_PORT_VARIABLE    "JOB_SSH_PORT"
/* A reserved host name: a far end on the first node, for the directory that the run's nodes
 * share. */
#define REMOTE_SHARED "..shared"
/* Below a node root: the sockets, each named like its job's directory, and the programs. */
#define REMOTE_DIR  "ssh"
#define REMOTE_BIN  "ssh/bin"
#define REMOTE_NODE "batchai-node" /* in REMOTE_BIN; `ssh` there is a link to it */

/* Messages from one end to the other pass through the daemon; the daemon itself handles OPEN and
 * sends LOST. */
enum remote_kind {
    REMOTE_OPEN, /* near end to daemon: start a far end on `host`; may be repeated */
    /* daemon to near end: there is no far end (any more), with the reason `why`; or daemon as near
     * end to its far end: the user has left */
    REMOTE_LOST,
    REMOTE_RESUME, /* "I am here and expect message `n` next": the receiver sends again from there,
                      and replies with its own position, unless `answer` is true */
    REMOTE_ACK,    /* I expect message `n` next */
    REMOTE_DATA,   /* message `n`: bytes of `channel`; no bytes: the end of the channel */
    REMOTE_EXIT,   /* message `n` of the far end, its last: the exit status of the command */
    REMOTE_GONE    /* an agent's answer to RESUME: the addressed end is not connected now */
};

enum remote_channel {
    REMOTE_STDIN,
    REMOTE_STDOUT,
    REMOTE_STDERR,
    REMOTE_COMMAND, /* the text of the command, before all other channels */
    REMOTE_CONTROL  /* "size ROWS COLUMNS" or "signal NUMBER", for the command */
};

struct remote_msg { /* all borrowed */
    enum remote_kind kind;
    /* the directory below ROOT/jobs: set by the agent, because it knows the owner of the socket;
     * NULL on a socket */
    const char *run;
    const char *session;
    bool to_near; /* for the near end; otherwise for the far end */
    int rank;     /* number of a node: to an agent the sender's, from an agent the receiver's */
    int64_t n;
    bool answer;
    enum remote_channel channel;
    const char *bytes;
    size_t n_bytes;
    const char *host, *why;
    int exit_code, signal; /* signal 0: it exited */
};

/* A new reference, without the bytes; NULL if a text is not UTF-8. */
json_t *remote_pack(const struct remote_msg *m);
/* Checks everything that does not depend on the sender. `bytes` belong to the message. */
int remote_read(const json_t *j, const char *bytes, size_t n, struct remote_msg *out,
                struct err *e) MUST_CHECK;
bool remote_session_valid(const char *session);

#endif
