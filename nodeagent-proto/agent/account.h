/* SPDX-License-Identifier: MIT
 *
 * Accounts of the machine, and acting with their rights. The agent is linked statically, so libc's
 * getpwnam() would know /etc/passwd at most. Therefore the machine's programs getent(1) and id(1)
 * look up accounts of a directory service (LDAP, SSSD).
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
    bool shares; /* the account's group may change files of its commands, whatever the agent's umask
                    is */
};

/* Looks the account up by name; account_free() releases it. For an account in /etc/passwd no
 * program is run, unless nsswitch.conf names another source of groups. A directory service that
 * does not answer may block the caller for some seconds (limited), so do not call this on the
 * agent's loop. ERR_RESOURCE_NOT_FOUND: there is no such account. */
int account_find(const char *name, struct account *out, struct err *e) MUST_CHECK;
/* Sets a umask so that accounts in the group of `a` may change new files. Returns the old umask,
 * for umask(). If `a` is NULL, nothing changes. */
mode_t account_umask(const struct account *a);
/* Frees the texts of `a`; an account that is all zeros is allowed. */
void account_free(struct account *a);

/* ERR_NOT_SUPPORTED with an explanation unless this process may act as the account: the process is
 * root, or has the account's uid. */
int account_check(const struct account *a, struct err *e) MUST_CHECK;

/* Gives the process the account's rights to files, until account_resume(). Does nothing if the
 * process is not root, or for the account root. The real ids stay, so that the account can neither
 * signal nor trace the process. `a` NULL: the process keeps its rights. */
int account_assume(const struct account *a, struct err *e) MUST_CHECK;
/* Returns to root, without supplementary groups. Ends the process if that fails, because it would
 * then keep the account's rights. */
void account_resume(void);

/* Becomes the account for good. Clears the parent-death signal, because the kernel clears it when
 * ids change. */
int account_become(const struct account *a, struct err *e) MUST_CHECK;

#endif
