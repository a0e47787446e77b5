/* SPDX-License-Identifier: MIT
 *
 * Environment variables for clients of a running daemon. `batchaid env` and `batchaid az` share
 * this list.
 */
#ifndef DAEMON_CLI_ENVIRONMENT_H
#define DAEMON_CLI_ENVIRONMENT_H

#include <stddef.h>

#include "daemon/config/state.h"
#include "lib/err.h"

/* Further members of an environment with a login. Clients do not get them as variables. */
#define LOGIN_REFRESH       "refresh token"
#define LOGIN_TOKEN         "token" /* instead of it: a bearer token for requests to the daemon */
#define LOGIN_STORAGE_TOKEN "storage token"
#define LOGIN_USER          "user"

struct environment {
    struct {
        const char *name; /* a static text */
        char *value;      /* owned */
    } vars[20];
    size_t n;
};

/* Builds the variables for the daemon of a state directory. If no daemon runs there, the error says
 * how to start one. */
int environment_build(const struct state *s, struct environment *out, struct err *e) MUST_CHECK;
/* Copies the value. `name` must be static. */
void environment_add(struct environment *env, const char *name, const char *value);
/* NULL if there is no such variable. */
const char *environment_get(const struct environment *env, const char *name);
void environment_free(struct environment *env);

#endif
