/* SPDX-License-Identifier: MIT
 *
 * Messages of remote commands: a process of a job (the near end) runs a command on another node of
 * its job (where the far end runs it), through both nodes' agents and the daemon between them.
 *
 *   near end -- socket -- agent -- link -- daemon -- link -- agent -- socket -- far end -- command
 *
 * Agents and daemon only pass messages on, keep nothing of them and may drop any; the two ends
 * number what must arrive (stream.h) and ask for what was lost. So a session goes on when an agent
 * or the daemon is started again. Both on the socket and on the links a message is a frame, an
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
#define REMOTE_BYTES_MAX   32768U /* that go with one message */
#define REMOTE_SESSION_MAX 32U    /* characters: [a-z0-9] */
#define REMOTE_TEXT_MAX    1024U  /* bytes of a host or a reason */
/* The frame of the longest message, with room: longer ones are refused before they are read. */
#define REMOTE_FRAME_MAX (REMOTE_BYTES_MAX + 16384U)

/* Variables of processes: the socket; of a far end alone, "RANK-SESSION" of its near end; and of a
 * far end that serves files whatever command it is sent. */
#define REMOTE_SOCKET_VARIABLE  "JOB_SSH_SOCKET"
#define REMOTE_SESSION_VARIABLE "JOB_SSH_SESSION"
#define REMOTE_SFTP_VARIABLE    "JOB_SSH_SFTP_ONLY"
/* As a host, which no host is called: the directory that the run's nodes share, on the first. */
#define REMOTE_SHARED "..shared"
/* Below a node root: the sockets, each called as its job's directory, and the programs. */
#define REMOTE_DIR  "ssh"
#define REMOTE_BIN  "ssh/bin"
#define REMOTE_NODE "batchai-node" /* in REMOTE_BIN, beside `ssh`, which is a link to it */

/* Kinds that an end sends to the other go through; the daemon hears OPEN and says LOST. */
enum remote_kind {
    REMOTE_OPEN,   /* near end to daemon: start a far end on `host`; may be repeated */
    REMOTE_LOST,   /* daemon to near end: `why` there is no far end, or none any more */
    REMOTE_RESUME, /* I am here and expect message `n` next: send again from there, and say likewise
                      what you expect, unless `answer` is true */
    REMOTE_ACK,    /* I expect message `n` next */
    REMOTE_DATA,   /* message `n`: bytes of `channel`; none: its end */
    REMOTE_EXIT,   /* message `n` of the far end, its last: how the command ended */
    REMOTE_GONE    /* an agent's answer to RESUME: the end that you mean is not here now */
};

enum remote_channel {
    REMOTE_STDIN,
    REMOTE_STDOUT,
    REMOTE_STDERR,
    REMOTE_COMMAND /* the text of the command, before all else */
};

struct remote_msg { /* all borrowed */
    enum remote_kind kind;
    const char *run; /* the directory below ROOT/jobs: set by the agent, as it knows whose the
                        socket is; NULL on a socket */
    const char *session;
    bool to_near; /* for the near end; else for the far end */
    int rank;     /* of the node: to an agent that of the sender, from an agent that of the
                     receiver */
    int64_t n;
    bool answer;
    enum remote_channel channel;
    const char *bytes;
    size_t n_bytes;
    const char *host, *why;
    int exit_code, signal; /* signal 0: it exited */
};

/* A new reference, without the bytes; NULL when a text is not UTF-8. */
json_t *remote_pack(const struct remote_msg *m);
/* Checks all that does not depend on who sent it. `bytes` go with the message. */
int remote_read(const json_t *j, const char *bytes, size_t n, struct remote_msg *out,
                struct err *e) MUST_CHECK;
bool remote_session_valid(const char *session);

#endif
