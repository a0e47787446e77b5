/* SPDX-License-Identifier: MIT
 *
 * Settings for clients of a Batch account: a part of the output of `batchaid env ACCOUNT`.
 */
#ifndef DAEMON_CLI_ENV_BATCH_H
#define DAEMON_CLI_ENV_BATCH_H

#include <stdbool.h>

#include "daemon/cli/environment.h"
#include "daemon/config/state.h"
#include "lib/err.h"

/* Adds the variables for the account with this name: AZURE_BATCH_ACCOUNT, AZURE_BATCH_ENDPOINT and,
 * if `keys`, AZURE_BATCH_ACCESS_KEY, unless the account permits no shared key. `endpoint`: the URL
 * by which the machine that uses the settings reaches the daemon (https://HOST:PORT); NULL: the
 * settings are for this machine. */
int env_batch_add(const struct state *s, const char *account, const char *endpoint, bool keys,
                  struct environment *out, struct err *e) MUST_CHECK;

#endif
