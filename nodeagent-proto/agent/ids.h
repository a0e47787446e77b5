/* SPDX-License-Identifier: MIT
 *
 * Numbers that a user chose for the account of a job. They must not belong to another account of
 * this machine, because the job could then do everything that account can.
 */
#ifndef NODEAGENT_PROTO_AGENT_IDS_H
#define NODEAGENT_PROTO_AGENT_IDS_H

#include <stdbool.h>

#include "lib/err.h"

/* Whether /etc/passwd has the number. */
bool id_is_users(unsigned uid);
/* ERR_CONFLICT, with the owner's name, if /etc/passwd has the uid, or if /etc/group has the gid
 * under another name than `group` (NULL: any name). */
int ids_check_free(unsigned uid, unsigned gid, const char *group, struct err *e) MUST_CHECK;
/* Whether /etc/group has this name. */
bool group_is_there(const char *group);

#endif
