/* SPDX-License-Identifier: MIT
 *
 * `ssh HOST COMMAND` inside a job: the near end of a remote command. It takes ssh's arguments and
 * has ssh's exit codes, but reaches the nodes of its job alone and needs no keys: the daemon knows
 * who asks.
 */
#ifndef NODEAGENT_PROTO_AGENT_SSH_H
#define NODEAGENT_PROTO_AGENT_SSH_H

#include <stdbool.h>

/* What ssh's arguments ask for; borrowed. */
struct ssh_args {
    const char *host;
    char *const *command; /* its words, NULL-terminated; none: a shell */
    bool no_input;        /* -n */
    bool background;      /* -f */
    bool subsystem;       /* -s: the command is the name of one */
};

/* False: *why says what is wrong. Options that mean nothing here (a port, a user, a key) are passed
 * over; those that ask for what there is not (tunnels, terminals of their own) are refused. */
bool ssh_read_args(char *const *argv, struct ssh_args *out, const char **why);

/* The command of the one subsystem that sshd has as it comes; scp uses it. */
extern const char ssh_sftp_server[];

/* The program, from its own name on. Returns its exit status. */
int ssh_main(char **argv);
/* The far end, `batchai-node remote`: runs the command and stays until nothing of it is left. */
int remote_far_main(void);

#endif
