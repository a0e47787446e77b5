/* SPDX-License-Identifier: MIT
 *
 * The real az, with a configuration directory inside the state directory of a running daemon.
 */
#ifndef DAEMON_CLI_AZ_H
#define DAEMON_CLI_AZ_H

#include <stdio.h>

#include "daemon/cli/cli.h"
#include "daemon/cli/environment.h"

/* Builds the environment of az, and enters it. The caller frees *env. */
int az_enter(const struct options *o, struct environment *env, struct err *e) MUST_CHECK;
/* Ensures that az has the cloud registered and is logged in; reports each step to `say` (may be
 * NULL). */
int az_ensure_login(const struct environment *env, FILE *say, struct err *e) MUST_CHECK;

/* A value of az's file `config`, as "defaults", "group"; NULL: none. The caller frees. */
char *az_setting(const struct environment *env, const char *section, const char *key);
/* The id of the subscription of `az account set`, or the daemon's. The caller frees. */
char *az_subscription(const struct environment *env);

/* The error of a start that failed with this errno. Returns -1. */
int az_cannot_start(int error, struct err *e);

#endif
