/* SPDX-License-Identifier: MIT
 *
 * Starts the command of a far end of a remote command, with pipes or with a new terminal; or a
 * connection to a port of the node.
 */
#ifndef NODEAGENT_PROTO_AGENT_REMOTE_START_H
#define NODEAGENT_PROTO_AGENT_REMOTE_START_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct remote_started {
    pid_t pid; /* 0: no process, but a connection */
    bool tty;
    int in, out[2]; /* this end's descriptors: its input, stdout, stderr; -1: none */
};

#define REMOTE_NOT_RUN 255 /* ssh's exit code for a command that could not be run */

/* Starts the command (NULL: a shell) with pipes. -1: errno has the reason. */
int remote_start_pipes(const char *command, struct remote_started *s);
/* Like remote_start_pipes(), with a new terminal of `size` "ROWS COLUMNS TERM". The command's
 * processes get SIGHUP when this process has closed its descriptors of the terminal. */
int remote_start_tty(const char *command, const char *size, struct remote_started *s);
/* Connects to the port on a loopback address, if the port's listener is a process of our own
 * account. -1: `why` has the reason. */
int remote_start_port(const char *port, struct remote_started *s, char *why, size_t n);
/* Closes the command's input: the command reads end of file. */
void remote_close_in(struct remote_started *s);
void remote_close_out(struct remote_started *s, int i);
/* Carries out the text of a REMOTE_CONTROL message; ignores an unknown text. */
void remote_control(const struct remote_started *s, const char *text, size_t n);

#endif
