/* SPDX-License-Identifier: MIT
 *
 * Checks the uid and gid that a user chose for the account of a job. They must not belong to
 * another account of this machine, because the job would then have all rights of that account.
 */
#ifndef NODEAGENT_PROTO_AGENT_IDS_H
#define NODEAGENT_PROTO_AGENT_IDS_H

#include <stdbool.h>

#include "lib/err.h"

/* True: an account in /etc/passwd has this uid. */
bool id_is_users(unsigned uid);
/* Fails with ERR_CONFLICT and the owner's name if an account in /etc/passwd has the uid, or a group
 * in /etc/group has the gid. The group named `group` (may be NULL) may have it. */
int ids_check_free(unsigned uid, unsigned gid, const char *group, struct err *e) MUST_CHECK;
/* True: there is a group of this name in /etc/group. */
bool group_is_there(const char *group);

#endif
