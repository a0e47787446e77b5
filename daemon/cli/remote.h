/* SPDX-License-Identifier: MIT
 *
 * Lines for a shell on another machine: what `batchaid env --endpoint URL --user NAME` prints on
 * the daemon's machine, and a person pastes on a laptop. They fetch the authority's certificate
 * from the daemon, without trusting who sends it: it counts only if its fingerprint is the one in
 * the lines.
 */
#ifndef DAEMON_CLI_REMOTE_H
#define DAEMON_CLI_REMOTE_H

#include "daemon/config/state.h"
#include "lib/err.h"
#include "lib/strbuf.h"

/* ERR_CONFIG unless it is https://HOST or https://HOST:PORT, with or without a slash at its end. */
int remote_check_endpoint(const char *url, struct err *e) MUST_CHECK;

/* Appends the lines. `endpoint`: how the daemon is reached from there; NULL: as from here. `user`:
 * a user of the daemon, whose password is not in the lines; NULL: the daemon's own principal, whose
 * secret is. Asks the running daemon whether there is that user, and whether clients that ask for
 * that name are shown a certificate that they will take. */
int remote_lines(const struct state *s, const char *endpoint, const char *user, struct strbuf *out,
                 struct err *e) MUST_CHECK;

#endif
