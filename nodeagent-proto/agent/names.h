/* SPDX-License-Identifier: MIT
 *
 * Names for numbers of jobs, so that whoami, ssh and MPI's launchers get an answer: a user record
 * in /run/userdb, which the C library reads where nsswitch.conf has "systemd" for "passwd"
 * (nss-systemd(8)). No file that others write is touched, and a restart of the machine takes it
 * away. Elsewhere a number has no name. Nothing here fails: a job without a name runs, too.
 */
#ifndef NODEAGENT_PROTO_AGENT_NAMES_H
#define NODEAGENT_PROTO_AGENT_NAMES_H

#include <sys/types.h>

/* What a number is called; caller frees. */
char *name_of(uid_t uid);
/* Again: as it is said now. */
void name_give(uid_t uid, gid_t gid, const char *home, const char *shell);
void name_take_back(uid_t uid);

#endif
