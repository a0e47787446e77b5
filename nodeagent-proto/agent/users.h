/* SPDX-License-Identifier: MIT
 *
 * Accounts for people to log in with, made and removed by the machine's own programs (useradd,
 * usermod, chpasswd, userdel). In a worker, as root.
 *
 * An account is ours if both say so: the file ROOT/users/NAME, and "batchaid" as its comment in
 * /etc/passwd. No other is ever changed. The file is made first, so that a crash leaves at worst a
 * file without an account.
 */
#ifndef NODEAGENT_PROTO_AGENT_USERS_H
#define NODEAGENT_PROTO_AGENT_USERS_H

#include "lib/err.h"
#include "nodeagent-proto/wire/requests.h"

/* Makes the account, or sets key and password of one of ours to exactly these. */
int users_add(const char *root, const struct request_user_add *u, struct err *e) MUST_CHECK;
/* Kills its processes, and removes account and home. Does nothing to an account that is not ours.
 */
int users_remove(const char *root, const char *name, struct err *e) MUST_CHECK;
/* The same for every account that was made here. */
int users_remove_all(const char *root, struct err *e) MUST_CHECK;
/* Removes marks that were not finished when an agent was killed. */
void users_remove_leftovers(const char *root);

#endif
