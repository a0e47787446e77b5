/* SPDX-License-Identifier: MIT
 *
 * Accounts for logins of people, made and removed by the machine's programs (useradd, usermod,
 * chpasswd, userdel). Runs in a worker, as root. An account was made by the agent if it has both
 * marks: the file ROOT/users/NAME, and "batchaid" as its comment in /etc/passwd. No other account
 * is ever changed. The file is made first, so that a crash leaves at worst a file without an
 * account.
 */
#ifndef NODEAGENT_PROTO_AGENT_USERS_H
#define NODEAGENT_PROTO_AGENT_USERS_H

#include "lib/err.h"
#include "nodeagent-proto/wire/requests.h"

/* Makes the account, or replaces key and password of an account that the agent made. */
int users_add(const char *root, const struct request_user_add *u, struct err *e) MUST_CHECK;
/* Kills the account's processes, and removes account and home. Ignores an account that the agent
 * did not make. */
int users_remove(const char *root, const char *name, struct err *e) MUST_CHECK;
/* Like users_remove(), for every account that the agent made. */
int users_remove_all(const char *root, struct err *e) MUST_CHECK;
/* Removes temporary files of ROOT/users that a killed agent left. */
void users_remove_leftovers(const char *root);

#endif
