/* SPDX-License-Identifier: MIT
 *
 * A login that another program passes to a command in environment variables: BATCHAID_TOKEN is a
 * bearer token for the daemon at BATCHAID_ENDPOINT, BATCHAID_STORAGE_TOKEN a token for its storage
 * accounts. The Python package starts `batchaid submit` in this way.
 */
#ifndef DAEMON_CLI_LOGIN_TOKEN_H
#define DAEMON_CLI_LOGIN_TOKEN_H

#include "daemon/cli/environment.h"
#include "lib/err.h"

/* Reads the login. 1: read; 0: BATCHAID_TOKEN is not set; -1: error, also if another required
 * variable is missing. */
int login_token_read(struct environment *out, struct err *e) MUST_CHECK;

#endif
