/* SPDX-License-Identifier: MIT
 *
 * Leases of accounts: each job on a node has a separate account as long as the job is there. A
 * lease is a number (uids.h) and a directory that belongs to that number alone. ROOT/accounts/NAME
 * records both; if a power cut takes the record, the directory's owner has the number.
 *
 *   (free) --lease_take--> taken --lease_release--> (free)
 *
 * Both may be repeated after a crash at any point: a lease is written before the directory is made,
 * and removed after all processes and files of the number were removed. Where requests name an
 * account of the machine, a leading LEASE_SIGN makes the text the name of a lease.
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
    const char *name; /* a name like that of a task */
    const char *dir;  /* below the root */
    const char *also; /* the job's directory below another root of this machine, also made if its
                         parent exists; or NULL */
    struct uid_range range;
    unsigned uid, gid; /* ids for the account; both 0: a number of the agent's range */
    bool room;         /* the number needs room for the further users of a container (uids.h) */
};

/* Takes an account, unless `name` has one, and makes `dir`, mode 0700, for it. ERR_CONFLICT: the
 * account could not reach `dir` because a directory on the way is closed to others; or `dir`, the
 * uid or the gid belongs to another account; or the lease has other ids. */
int lease_take(const struct lease_ask *ask, struct err *e) MUST_CHECK;
/* Kills the account's processes, takes over the files in its directory, and removes its other
 * objects; then the number is free. If the job has the number in other roots of the machine too,
 * only takes over the directory. Succeeds if there is no lease of that name. For a worker. */
int lease_release(const struct uid_holder *h, const char *name, struct err *e) MUST_CHECK;
int lease_release_all(const struct uid_holder *h, struct err *e) MUST_CHECK;
/* Releases the leases that are not needed any more: no task runs as the account (by `runs`), and
 * its directory does not exist. Also maintains the machine's registry, see uids_keep(), uids_tidy()
 * and uids_forget_gone(). */
void lease_sweep(const struct uid_holder *h, bool (*runs)(void *ctx, uid_t uid), void *ctx);
/* Adds the name of each lease to `names`. */
int lease_names(const char *root, json_t *names, struct err *e) MUST_CHECK;
/* Adds a text about each lease to `found`, for people. */
int lease_list(const char *root, json_t *found, struct err *e) MUST_CHECK;

bool lease_is_taken(const char *root, const char *name);
/* Whether there is a record of `name`, readable or not. */
bool lease_has_record(const char *root, const char *name);
/* The account with this name: a lease's if `name` begins with LEASE_SIGN, otherwise an account of
 * the machine. */
int lease_or_account(const char *root, const char *name, struct account *out,
                     struct err *e) MUST_CHECK;
/* The account that reads files of a job whose lease was released: it may read files that are open
 * to everybody, and pass where jobs may pass. */
void lease_nobody(const char *root, struct account *out);

#endif
