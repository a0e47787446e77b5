/* SPDX-License-Identifier: MIT
 *
 * The records of leases (leases.h): ROOT/accounts/NAME says which numbers an account has, and where
 * its directory is.
 */
#ifndef NODEAGENT_PROTO_AGENT_LEASE_RECORD_H
#define NODEAGENT_PROTO_AGENT_LEASE_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/err.h"

struct agent_lease {
    uid_t number; /* in the registry */
    gid_t group;  /* of all jobs */
    uid_t uid;    /* of the account: the same two, unless its user chose others */
    gid_t gid;
    char *dir;
};

/* Its user said which numbers it is to have. */
static inline bool lease_is_chosen(const struct agent_lease *l)
{
    return l->uid != l->number;
}

bool lease_name_valid(const char *name);
/* Where the record of a name is; caller frees. */
char *lease_path(const char *root, const char *name);
/* The group of all jobs; 0: none was noted yet. */
gid_t lease_group(const char *root);
int lease_set_group(const char *root, gid_t group, struct err *e) MUST_CHECK;

/* 1: found, and lease_free() releases it; 0: there is none. */
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
/* The folder of the records, made if it is missing. */
int lease_make_records(const char *root, struct err *e) MUST_CHECK;

#endif
