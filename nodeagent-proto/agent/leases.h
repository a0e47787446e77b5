/* SPDX-License-Identifier: MIT
 *
 * Leases of accounts: each job on a node has an account of its own for as long as it is there. It
 * consists of a number (uids.h) and a directory that belongs to that number alone.
 * ROOT/accounts/NAME records both; if a power cut takes that, the directory's owner tells.
 *
 *   (free) --lease_take--> taken --lease_release--> (free)
 *
 * Both may be repeated, whatever was killed in between: a lease is written before the directory is
 * made, and removed after everything of the number was ended. Where requests name an account of the
 * machine, LEASE_SIGN in front makes it the name of a lease.
 */
#ifndef NODEAGENT_PROTO_AGENT_LEASES_H
#define NODEAGENT_PROTO_AGENT_LEASES_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/err.h"
#include "nodeagent-proto/agent/account.h"
#include "nodeagent-proto/agent/uids.h"

#define LEASE_SIGN '+'

struct lease_ask {
    struct uid_holder holder;
    const char *name; /* as that of a task */
    const char *dir;  /* below the root */
    const char *also; /* the job's directory below another root of this machine, made as well if its
                       * parent exists; or NULL */
    struct uid_range range;
    unsigned uid, gid; /* that the account is to have; both 0: one of the range */
    bool room;         /* one with room for the other users of a container (uids.h) */
};

/* Takes an account, unless `name` has one, and makes `dir`, mode 0700, for it. ERR_CONFLICT: the
 * account could not reach it because a directory on the way is closed to others, or `dir` is
 * somebody else's, or the uid or gid is, or the lease has others.
 */
int lease_take(const struct lease_ask *ask, struct err *e) MUST_CHECK;
/* Kills the account's processes, takes over the files in its directory, and removes what it left
 * elsewhere; then the number is free. If other roots of the machine have the number for the same
 * job, only takes over the directory. If there is no lease of that name, succeeds. For a worker. */
int lease_release(const struct uid_holder *h, const char *name, struct err *e) MUST_CHECK;
int lease_release_all(const struct uid_holder *h, struct err *e) MUST_CHECK;
/* Releases the leases that are not needed any more: no task runs as the account (`runs` tells), and
 * its directory is gone. Looks after the rest of the machine's registry, see uids_keep(),
 * uids_tidy() and uids_forget_gone(). */
void lease_sweep(const struct uid_holder *h, bool (*runs)(void *ctx, uid_t uid), void *ctx);
/* Adds the name of each to `names`. */
int lease_names(const char *root, json_t *names, struct err *e) MUST_CHECK;
/* Adds a text about each to `found`, for people. */
int lease_list(const char *root, json_t *found, struct err *e) MUST_CHECK;

bool lease_is_taken(const char *root, const char *name);
/* The same, also of a lease that cannot be read. */
bool lease_has_record(const char *root, const char *name);
/* The account that `name` stands for: a lease's if it begins with LEASE_SIGN, otherwise one of the
 * machine. */
int lease_or_account(const char *root, const char *name, struct account *out,
                     struct err *e) MUST_CHECK;
/* The account for looking at files of a job whose lease is gone: it may read what everybody may
 * read, and pass where jobs may pass. */
void lease_nobody(const char *root, struct account *out);

#endif
