/* SPDX-License-Identifier: MIT
 *
 * The login that `batchaid login` stores in $XDG_CONFIG_HOME/batchaid or ~/.config/batchaid,
 * readable only by its owner: login.json contains the daemon's address and a refresh token, ca.pem
 * the certificate of the daemon's authority.
 */
#ifndef DAEMON_CLI_LOGIN_FILE_H
#define DAEMON_CLI_LOGIN_FILE_H

#include "daemon/cli/environment.h"
#include "lib/err.h"

/* The id of az's application: a login needs some application, and the daemon accepts any. */
#define LOGIN_CLIENT "04b07795-8ddb-461a-bbee-02f9e1bf7b46"

/* The folder of the login; caller frees. NULL: error. */
char *login_folder(struct err *e);
/* The paths of login.json and ca.pem in the folder; caller frees. */
char *login_path(const char *folder);
char *login_authority(const char *folder);

/* Reads the stored login into the variables of `out`. 1: read; 0: there is none; -1: error, also if
 * others may read the file. */
int login_read(struct environment *out, struct err *e) MUST_CHECK;
/* Stores the members of the environment as the login. */
int login_write(const char *folder, const struct environment *env, struct err *e) MUST_CHECK;

#endif
