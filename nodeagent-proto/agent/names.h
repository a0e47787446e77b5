/* SPDX-License-Identifier: MIT
 *
 * Names for numbers of jobs, because whoami, ssh and MPI's launchers fail without a name: a user
 * record in /run/userdb, which the C library reads where nsswitch.conf has "systemd" for "passwd"
 * (nss-systemd(8)). No file of another program is changed, and a restart of the machine removes the
 * records. Without nss-systemd a number has no name. Nothing here fails: a job without a name runs,
 * too.
 */
#ifndef NODEAGENT_PROTO_AGENT_NAMES_H
#define NODEAGENT_PROTO_AGENT_NAMES_H

#include <sys/types.h>

/* The name for a number; caller frees. */
char *name_of(uid_t uid);
/* Names the account with this number of the registry and this uid (equal, unless the user chose a
 * uid). A repeated call replaces the record. */
void name_give(uid_t number, uid_t uid, gid_t gid, const char *home, const char *shell);
void name_take_back(uid_t number);

#endif
