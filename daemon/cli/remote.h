/* SPDX-License-Identifier: MIT
 *
 * Lines for a shell on another machine: the output of `batchaid env --endpoint URL --user NAME` on
 * the daemon's machine, for pasting on a laptop. They fetch the authority's certificate from the
 * daemon without trusting the sender: they accept the certificate only if it has the fingerprint in
 * the lines.
 */
#ifndef DAEMON_CLI_REMOTE_H
#define DAEMON_CLI_REMOTE_H

#include "daemon/config/state.h"
#include "lib/err.h"
#include "lib/strbuf.h"

/* ERR_CONFIG unless the URL is https://HOST or https://HOST:PORT, with or without a slash at its
 * end. */
int remote_check_endpoint(const char *url, struct err *e) MUST_CHECK;

/* Such a URL in lower case and without the slash. Caller frees. */
char *remote_plain_url(const char *url);

/* Appends the lines. `endpoint`: the daemon's URL from the other machine; NULL: as from here.
 * `user`: a user of the daemon; the password is not in the lines. NULL: the daemon's own principal;
 * its secret is in the lines. Checks with the running daemon whether the user exists, and whether
 * clients of that host name get a valid certificate. */
int remote_lines(const struct state *s, const char *endpoint, const char *user, struct strbuf *out,
                 struct err *e) MUST_CHECK;

#endif
