/* SPDX-License-Identifier: MIT
 *
 * Names for numbers of jobs, so that whoami, ssh and MPI's launchers get an answer: a user record
 * in /run/userdb, which the C library reads where nsswitch.conf has "systemd" for "passwd"
 * (nss-systemd(8)). It touches no file that others write, and a restart of the machine removes the
 * records. Without nss-systemd a number has no name. Nothing here fails: a job without a name runs,
 * too.
 */
#ifndef NODEAGENT_PROTO_AGENT_NAMES_H
#define NODEAGENT_PROTO_AGENT_NAMES_H

#include <sys/types.h>

/* The name of a number; caller frees. */
char *name_of(uid_t uid);
/* What has this number of the registry is called so, and has this uid: the same, unless its user
 * chose one. A repeated call replaces the record. */
void name_give(uid_t number, uid_t uid, gid_t gid, const char *home, const char *shell);
void name_take_back(uid_t number);

#endif
