/* SPDX-License-Identifier: MIT
 *
 * Leases of accounts: each job on a node has an account of its own as long as it is on the node. A
 * lease is a number (uids.h) and a directory that belongs only to this number. ROOT/accounts/NAME
 * records both; if the record is lost in a power cut, the directory's owner shows the number.
 *
 *   (free) --lease_take--> taken --lease_release--> (free)
 *
 * Both may be repeated after a crash at any point: the record of a lease is written before the
 * directory is made, and removed after all processes and files of the number were removed. In
 * requests that name an account, a name that begins with LEASE_SIGN is the name of a lease; other
 * names are accounts of the machine.
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
    const char *name; /* the lease's name, with the same rules as a task's id */
    const char *dir;  /* the account's directory, a path below the root */
    const char *also; /* the job's directory below another root of this machine, also made if its
                         parent exists; or NULL */
    struct uid_range range;
    unsigned uid, gid; /* the ids that the user chose; both 0: a number of the agent's range */
    bool room;         /* the number needs further numbers for the users of a container (uids.h) */
};

/* Takes an account, unless `name` has one, and makes `dir` for it, with mode 0700. ERR_CONFLICT:
 * the account could not reach `dir`, because a directory of the path is closed to others; or `dir`,
 * the uid or the gid belongs to another account; or the lease has other ids. */
int lease_take(const struct lease_ask *ask, struct err *e) MUST_CHECK;
/* Kills the account's processes, makes the agent the owner of the files in its directory, and
 * removes its other objects; then the number is free. If the job has the number in other roots of
 * the machine, too, only changes the owner of the files. Succeeds if there is no lease of that
 * name. To be called in a worker process. */
int lease_release(const struct uid_holder *h, const char *name, struct err *e) MUST_CHECK;
int lease_release_all(const struct uid_holder *h, struct err *e) MUST_CHECK;
/* Releases the leases that are not needed any more: no task runs as the account (by `runs`), and
 * its directory does not exist. Also maintains the machine's registry of numbers, see uids_keep(),
 * uids_tidy() and uids_forget_gone(). */
void lease_sweep(const struct uid_holder *h, bool (*runs)(void *ctx, uid_t uid), void *ctx);
/* Adds the name of each lease to `names`. */
int lease_names(const char *root, json_t *names, struct err *e) MUST_CHECK;
/* Adds a readable text about each lease to `found`. */
int lease_list(const char *root, json_t *found, struct err *e) MUST_CHECK;

bool lease_is_taken(const char *root, const char *name);
/* True: there is a record of `name`, even if it cannot be read. */
bool lease_has_record(const char *root, const char *name);
/* Finds the account with this name: the account of a lease if `name` begins with LEASE_SIGN,
 * otherwise an account of the machine. */
int lease_or_account(const char *root, const char *name, struct account *out,
                     struct err *e) MUST_CHECK;
/* Sets *out to an account for reading files of a job whose lease was released. It may read files
 * that everybody may read, and pass directories that jobs may pass. */
void lease_nobody(const char *root, struct account *out);

#endif
