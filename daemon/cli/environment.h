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

struct environment {
    struct {
        const char *name; /* static */
        char *value;      /* owned */
    } vars[16];
    size_t n;
};

/* If no daemon serves the state directory, the error says how to start one. */
int environment_build(const struct state *s, struct environment *out, struct err *e) MUST_CHECK;
/* NULL if there is no such variable. */
const char *environment_get(const struct environment *env, const char *name);
void environment_free(struct environment *env);

#endif
