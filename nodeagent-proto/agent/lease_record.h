/* SPDX-License-Identifier: MIT
 *
 * The records of leases (leases.h): ROOT/accounts/NAME contains the numbers and the directory of an
 * account.
 */
#ifndef NODEAGENT_PROTO_AGENT_LEASE_RECORD_H
#define NODEAGENT_PROTO_AGENT_LEASE_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/err.h"

struct agent_lease {
    uid_t number; /* the lease's number (uids.h) */
    gid_t group;  /* the group of all jobs */
    uid_t uid;    /* the account's uid: equal to `number`, unless the user chose one */
    gid_t gid;
    char *dir;
};

/* True: the user chose the uid and gid. */
static inline bool lease_is_chosen(const struct agent_lease *l)
{
    return l->uid != l->number;
}

bool lease_name_valid(const char *name);
/* The path of the record of `name`; caller frees. */
char *lease_path(const char *root, const char *name);
/* Returns the group of all jobs; 0: it is not recorded yet. */
gid_t lease_group(const char *root);
int lease_set_group(const char *root, gid_t group, struct err *e) MUST_CHECK;

/* 1: the record was read, and the caller frees *out with lease_free(); 0: there is no record. */
int lease_read(const char *root, const char *name, struct agent_lease *out,
               struct err *e) MUST_CHECK;
int lease_write(const char *root, const char *name, const struct agent_lease *l,
                struct err *e) MUST_CHECK;
int lease_forget(const char *root, const char *name, struct err *e) MUST_CHECK;
void lease_free(struct agent_lease *l);
/* Calls fn with each lease; ends with the first failure. */
int lease_each(const char *root,
               int (*fn)(void *ctx, const char *root, const char *name, const struct agent_lease *l,
                         struct err *e),
               void *ctx, struct err *e) MUST_CHECK;
/* Makes the folder of the records if it is missing. */
int lease_make_records(const char *root, struct err *e) MUST_CHECK;

#endif
