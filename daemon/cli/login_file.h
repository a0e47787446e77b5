/* SPDX-License-Identifier: MIT
 *
 * The login that `batchaid login` keeps, in $XDG_CONFIG_HOME/batchaid or ~/.config/batchaid, for
 * its owner only: login.json has the daemon's address and a refresh token, ca.pem the certificate
 * of the daemon's authority.
 */
#ifndef DAEMON_CLI_LOGIN_FILE_H
#define DAEMON_CLI_LOGIN_FILE_H

#include "daemon/cli/environment.h"
#include "lib/err.h"

/* The id of az's application: a login needs some application, and the daemon accepts any. */
#define LOGIN_CLIENT "04b07795-8ddb-461a-bbee-02f9e1bf7b46"

/* The folder; caller frees. NULL: err. */
char *login_folder(struct err *e);
/* The paths in it; caller frees. */
char *login_path(const char *folder);
char *login_authority(const char *folder);

/* 1: the environment of the kept login; 0: there is none. -1 also if others may read the file. */
int login_read(struct environment *out, struct err *e) MUST_CHECK;
/* Keeps the members of the environment. */
int login_write(const char *folder, const struct environment *env, struct err *e) MUST_CHECK;

#endif
