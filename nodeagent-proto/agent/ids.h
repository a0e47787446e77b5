/* SPDX-License-Identifier: MIT
 *
 * Numbers that a user's account is to have, because its user said so. They may not be somebody
 * else's on this machine: the account could do whatever that one can.
 */
#ifndef NODEAGENT_PROTO_AGENT_IDS_H
#define NODEAGENT_PROTO_AGENT_IDS_H

#include <stdbool.h>

#include "lib/err.h"

/* Whether /etc/passwd has the number. */
bool id_is_users(unsigned uid);
/* ERR_CONFLICT, which says whose it is, if /etc/passwd has the uid, or /etc/group the gid under
 * another name than `group` (NULL: any name). */
int ids_check_free(unsigned uid, unsigned gid, const char *group, struct err *e) MUST_CHECK;
/* Whether /etc/group has this name. */
bool group_is_there(const char *group);

#endif
