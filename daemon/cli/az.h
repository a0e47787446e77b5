/* SPDX-License-Identifier: MIT
 *
 * Prepares the real az, with a configuration directory inside the state directory of a running
 * daemon.
 */
#ifndef DAEMON_CLI_AZ_H
#define DAEMON_CLI_AZ_H

#include <stdio.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/environment.h"

/* Builds the environment of az, and makes it the environment of this process. The caller frees
 * *env. */
int az_enter(const struct options *o, struct environment *env, struct err *e) MUST_CHECK;
/* Ensures that the cloud is registered in az and that az is logged in; prints each step to `say`
 * (may be NULL). */
int az_ensure_login(const struct environment *env, FILE *say, struct err *e) MUST_CHECK;

/* The value of `key` in a section of az's file `config`, for example "defaults", "group"; NULL:
 * none. The caller frees it. */
char *az_setting(const struct environment *env, const char *section, const char *key);
/* The id of the subscription that `az account set` has chosen, or of the daemon's subscription. The
 * caller frees it. */
char *az_subscription(const struct environment *env);

/* Sets the error for an az that could not be started (`error` is an errno). Returns -1. */
int az_cannot_start(int error, struct err *e);

#endif
