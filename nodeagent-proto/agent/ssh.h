/* SPDX-License-Identifier: MIT
 *
 * `ssh HOST COMMAND` inside a job: the near end of a remote command. It takes ssh's arguments and
 * has ssh's exit codes, but reaches only the nodes of its job. It needs no keys, because the daemon
 * knows the job by its socket.
 */
#ifndef NODEAGENT_PROTO_AGENT_SSH_H
#define NODEAGENT_PROTO_AGENT_SSH_H

#include <stdbool.h>

/* The parsed arguments; borrowed. */
struct ssh_args {
    const char *host;
    char *const *command; /* the words of the command, NULL-terminated; no words: a shell */
    bool no_input;        /* -n */
    bool background;      /* -f */
    bool subsystem;       /* -s: the command is the name of a subsystem */
};

/* False: *why has the reason. Options without a meaning here (a port, a user, a key) are ignored;
 * options for missing features (tunnels, terminals) are refused. */
bool ssh_read_args(char *const *argv, struct ssh_args *out, const char **why);

/* The command of sshd's only default subsystem; scp uses it. */
extern const char ssh_sftp_server[];

/* The program `ssh`; argv[0] is its name. Returns its exit status. */
int ssh_main(char **argv);
/* The far end, `batchai-node remote`: runs the command and stays until the command and its output
 * have ended. */
int remote_far_main(void);

#endif
