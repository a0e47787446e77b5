/* SPDX-License-Identifier: MIT
 *
 * Accounts of the machine, and acting with their rights. The agent is linked statically, so libc's
 * getpwnam() would know /etc/passwd at most; accounts of a directory service (LDAP, SSSD) are asked
 * of getent(1) and id(1), which are the machine's own programs.
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
    gid_t *groups; /* supplementary ones, `gid` among them */
    size_t n_groups;
    bool shares; /* what its commands make may be changed by its group, whatever our umask */
};

/* Looks the account up by name; account_free() releases it. For one that is in /etc/passwd nothing
 * is run, unless nsswitch.conf takes groups from elsewhere too. A directory service that does not
 * answer may take some seconds (limited): not on the agent's loop. ERR_RESOURCE_NOT_FOUND: there is
 * no such account. */
int account_find(const char *name, struct account *out, struct err *e) MUST_CHECK;
/* From now on what is made for the account may be changed by whom it shares with. Returns the umask
 * of before, for umask(). NULL: nobody, nothing changes. */
mode_t account_umask(const struct account *a);
/* Also fine for one that is all zeros. */
void account_free(struct account *a);

/* ERR_NOT_SUPPORTED with an explanation unless this process may act as the account: it is root, or
 * has that account's uid. */
int account_check(const struct account *a, struct err *e) MUST_CHECK;

/* The process has the account's rights to files, until account_resume(); nothing to do for one that
 * is not root, or for the account root. The real ids stay: the account can neither signal nor trace
 * the process meanwhile. NULL: the process's own rights. */
int account_assume(const struct account *a, struct err *e) MUST_CHECK;
/* Back to root, without supplementary groups. Ends the process if that fails, which would leave it
 * with rights nobody expects. */
void account_resume(void);

/* Becomes the account for good. Clears the parent-death signal, as the kernel has it. */
int account_become(const struct account *a, struct err *e) MUST_CHECK;

#endif
