/* SPDX-License-Identifier: MIT
 *
 * Gives the uids of jobs names, because whoami, ssh and MPI's launchers fail without a name. A name
 * is a user record in /run/userdb, which the C library reads if nsswitch.conf lists "systemd" for
 * "passwd" (nss-systemd(8)). No file of another program is changed, and a restart of the machine
 * removes the records. Without nss-systemd a uid has no name. No function here returns an error,
 * because a job also runs without a name.
 */
#ifndef NODEAGENT_PROTO_AGENT_NAMES_H
#define NODEAGENT_PROTO_AGENT_NAMES_H

#include <sys/types.h>

/* The name for a number; the caller frees it. */
char *name_of(uid_t uid);
/* Gives a name to the account with this number of the registry and this uid; both are equal unless
 * the user chose a uid. A repeated call replaces the record. */
void name_give(uid_t number, uid_t uid, gid_t gid, const char *home, const char *shell);
void name_take_back(uid_t number);

#endif
