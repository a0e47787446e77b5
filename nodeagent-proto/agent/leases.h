/* SPDX-License-Identifier: MIT
 *
 * An account of its own for each job on a node, as long as it is there: a number (uids.h), and a
 * directory that belongs to it and to nobody else. ROOT/accounts/NAME says which, and is on disk
 * before anything has the number.
 *
 *   (free) --lease_take--> taken --lease_release--> (free)
 *
 * Both may be repeated, whatever was killed in between: a lease is written before the directory is
 * made, and removed after everything of the number was ended. What names an account of the machine
 * elsewhere names a lease with LEASE_SIGN before it.
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
    const char *also; /* made as well if what is to hold it is there: the job's directory below
                       * another root of this machine; or NULL */
    struct uid_range range;
};

/* Takes an account, unless `name` has one, and makes `dir`, mode 0700, for it. ERR_CONFLICT: it
 * could not get there, as a directory on the way is closed to others, or `dir` is somebody else's.
 */
int lease_take(const struct lease_ask *ask, struct err *e) MUST_CHECK;
/* Kills what runs as it, takes over what it left in its directory, removes what it left elsewhere;
 * then the number is free. Where other
 * roots of the machine have it for the same job, only the directory is taken over. None of that
 * name: success. For a worker. */
int lease_release(const struct uid_holder *h, const char *name, struct err *e) MUST_CHECK;
int lease_release_all(const struct uid_holder *h, struct err *e) MUST_CHECK;
/* Releases those that nothing needs: no task runs as one (`runs` says), and its directory is gone.
 */
void lease_sweep(const struct uid_holder *h, bool (*runs)(void *ctx, uid_t uid), void *ctx);
/* Adds the name of each to `names`. */
int lease_names(const char *root, json_t *names, struct err *e) MUST_CHECK;
/* Adds a text for people for each to `found`. */
int lease_list(const char *root, json_t *found, struct err *e) MUST_CHECK;

bool lease_is_taken(const char *root, const char *name);
/* The account that `name` stands for: a lease's with LEASE_SIGN, else one of the machine. */
int lease_or_account(const char *root, const char *name, struct account *out,
                     struct err *e) MUST_CHECK;
/* Who looks at files of a job whose lease is gone: may read what everybody may, and pass where jobs
 * may. */
void lease_nobody(const char *root, struct account *out);

#endif
