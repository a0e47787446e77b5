/* SPDX-License-Identifier: MIT
 *
 * What clients of a Batch account need: a part of what `batchaid env ACCOUNT` prints.
 */
#ifndef DAEMON_CLI_ENV_BATCH_H
#define DAEMON_CLI_ENV_BATCH_H

#include <stdbool.h>

#include "daemon/config/state.h"
#include "lib/err.h"
#include "lib/strbuf.h"

/* Appends export lines for the account with this name: AZURE_BATCH_ACCOUNT, AZURE_BATCH_ENDPOINT
 * and, if `keys`, AZURE_BATCH_ACCESS_KEY, unless the account allows no shared key. `endpoint`: how
 * the daemon is reached where the lines are used (https://HOST:PORT); NULL: as from here. */
int env_batch_lines(const struct state *s, const char *account, const char *endpoint, bool keys,
                    struct strbuf *out, struct err *e) MUST_CHECK;

#endif
