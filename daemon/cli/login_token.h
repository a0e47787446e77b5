/* SPDX-License-Identifier: MIT
 *
 * A login that another program has, and lends to a command by its environment: BATCHAID_TOKEN is a
 * bearer token of the daemon at BATCHAID_ENDPOINT, BATCHAID_STORAGE_TOKEN one for its storage
 * accounts. The Python package starts `batchaid submit` so.
 */
#ifndef DAEMON_CLI_LOGIN_TOKEN_H
#define DAEMON_CLI_LOGIN_TOKEN_H

#include "daemon/cli/environment.h"
#include "lib/err.h"

/* 1: the environment of that login; 0: BATCHAID_TOKEN is not set. -1 also if a variable that goes
 * with it is missing. */
int login_token_read(struct environment *out, struct err *e) MUST_CHECK;

#endif
