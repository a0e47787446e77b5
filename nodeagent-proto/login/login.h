/* SPDX-License-Identifier: MIT
 *
 * SSH logins on a local node, at a port of 127.0.0.1. Each connection gets a separate sshd (sshd
 * -i), which runs as the daemon's user. Nothing is written or started before the first connection.
 *
 * There is one account: the given name, with the given key, password or both. libnss-wrapper maps
 * the account to the daemon's user. Without libnss-wrapper only the name of the daemon's user can
 * log in, by key. Sessions see what jobs see: the machine as the daemon's user.
 */
#ifndef NODEAGENT_PROTO_LOGIN_LOGIN_H
#define NODEAGENT_PROTO_LOGIN_LOGIN_H

#include <stdbool.h>
#include <uv.h>

#include "lib/err.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "nodeagent-proto/wire/requests.h"

struct login_server;

struct login_config {       /* all texts are copied */
    uv_loop_t *loop;        /* borrowed */
    struct loop_lane *lane; /* borrowed; writes the files */
    const struct log *log;  /* borrowed */
    const char *node;       /* for the log */
    const char *root; /* the node's root; keys and configuration are kept in ROOT/login (0700) */
    struct request_user_add user;
};

/* Whether sshd is installed here. */
bool login_available(void);
/* Listens on a free port of 127.0.0.1. */
int login_open(const struct login_config *c, struct login_server **out, struct err *e) MUST_CHECK;
int login_port(const struct login_server *l);
/* Stops listening and ends the sessions; `closed` runs when everything is released. */
void login_close(struct login_server *l, void (*closed)(void *ctx), void *ctx);

#endif
