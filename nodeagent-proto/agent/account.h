/* SPDX-License-Identifier: MIT
 *
 * Accounts of the machine, and acting with their rights. The agent is linked statically, so libc's
 * getpwnam() could read at most /etc/passwd. Therefore the agent runs the machine's programs
 * getent(1) and id(1) to find accounts of a directory service (LDAP, SSSD).
 */
#ifndef NODEAGENT_PROTO_AGENT_ACCOUNT_H
#define NODEAGENT_PROTO_AGENT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/err.h"

#define ACCOUNT_SHARED_UMASK 0002

struct account {
    char *name, *home, *shell;
    uid_t uid;
    gid_t gid;
    gid_t *groups; /* supplementary groups, including `gid` */
    size_t n_groups;
    bool shares; /* the account's group may change files that its commands make, whatever the
                    agent's umask is */
};

/* Finds an account by its name; the caller frees it with account_free(). For an account in
 * /etc/passwd no program is run, unless nsswitch.conf names another source of groups. A directory
 * service that does not answer may block the caller for some seconds (limited), so do not call this
 * on the agent's loop. ERR_RESOURCE_NOT_FOUND: there is no such account. */
int account_find(const char *name, struct account *out, struct err *e) MUST_CHECK;
/* If `a` has `shares` set, sets a umask so that accounts in its group may change new files. Returns
 * the old umask, with which the caller can restore it by umask(). If `a` is NULL, nothing
 * changes. */
mode_t account_umask(const struct account *a);
/* Frees the texts of `a`; an account that is all zeros is allowed. */
void account_free(struct account *a);

/* Succeeds if this process may act as the account, because the process is root or has the account's
 * uid. Otherwise: ERR_NOT_SUPPORTED with an explanation. */
int account_check(const struct account *a, struct err *e) MUST_CHECK;

/* Gives the process the account's rights to files, until account_resume(). Does nothing if the
 * process is not root, or for the account root. The real ids do not change, so that the account can
 * neither signal nor trace the process. If `a` is NULL, the process keeps its rights. */
int account_assume(const struct account *a, struct err *e) MUST_CHECK;
/* Returns to root, without supplementary groups. Ends the process if that fails, because it would
 * then keep the account's rights. */
void account_resume(void);

/* Changes the process to the account permanently. This clears the parent-death signal, because the
 * kernel clears it whenever ids change. */
int account_become(const struct account *a, struct err *e) MUST_CHECK;

#endif
