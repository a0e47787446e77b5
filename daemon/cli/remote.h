/* SPDX-License-Identifier: MIT
 *
 * Makes lines for a shell on another machine: `batchaid env --endpoint URL --user NAME` prints them
 * on the daemon's machine, and a user pastes them on a laptop. They fetch the authority's
 * certificate from the daemon, which is not trusted yet, and accept it only if its fingerprint is
 * the one in the lines.
 */
#ifndef DAEMON_CLI_REMOTE_H
#define DAEMON_CLI_REMOTE_H

#include "daemon/config/state.h"
#include "lib/err.h"
#include "lib/strbuf.h"

/* Accepts only https://HOST or https://HOST:PORT, with or without a slash at its end; otherwise
 * ERR_CONFIG. */
int remote_check_endpoint(const char *url, struct err *e) MUST_CHECK;

/* The URL in lower case and without a slash at its end. Caller frees. */
char *remote_plain_url(const char *url);

/* Appends the lines. `endpoint`: the URL by which the other machine reaches the daemon; NULL: the
 * URL that this machine uses. `user`: a user of the daemon; the lines do not contain the password.
 * `user` NULL: the daemon's own principal; the lines contain its secret. Asks the running daemon
 * whether the user exists, and whether clients that use that host name get a valid certificate. */
int remote_lines(const struct state *s, const char *endpoint, const char *user, struct strbuf *out,
                 struct err *e) MUST_CHECK;

#endif
