/* SPDX-License-Identifier: MIT
 *
 * What accounts of all providers have in common whose names are unique in the whole cloud, as those
 * of Microsoft.Storage and Microsoft.Batch are.
 */
#ifndef API_ARM_ACCOUNT_H
#define API_ARM_ACCOUNT_H

#include "api/http/request.h"
#include "model/pace.h"
#include "model/resource.h"

/* 3 to 24 lower-case letters and digits. */
bool account_name_is_valid(const char *name);
/* {"nameAvailable", "reason", "message"}; `reason` NULL: it is available. A new reference. */
json_t *account_name_reply(const char *reason, const char *message);
/* Refuses a body that names another location than where the account is, as an error of the
 * provider's own `kind`. A body without location is taken. */
int account_check_location(struct request *r, const char *name, const struct scope *at,
                           const json_t *doc, int kind, struct err *e) MUST_CHECK;

/* The provisioningState of one that was created then and is not being deleted. Static. */
const char *account_provisioning(const struct request *r, const struct scope *at,
                                 enum pace_step step, int64_t created_us);

/* A row's columns out of an accepted body. */
struct account_given {
    json_t *doc;       /* owned, as are */
    char *text, *tags; /* NULL: not made yet */
};
/* Its tags as text; without any those that there were. */
const char *account_given_tags(struct account_given *g, const char *there);
void account_given_free(struct account_given *g);

#endif
