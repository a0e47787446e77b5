/* SPDX-License-Identifier: MIT
 *
 * Functions for all handlers of storage accounts: find an account, show it.
 */
#ifndef API_ARM_STORAGE_ACCOUNT_H
#define API_ARM_STORAGE_ACCOUNT_H

#include "api/arm/storage/storage_rm.h"
#include "model/resource.h"

/* Finds the account in the path; fails if it is in another group. */
int find_account(struct request *r, struct storage_account *s, struct err *e) MUST_CHECK;
/* Like find_account(), but fails if the account is shown as being created. */
int find_made_account(struct request *r, struct storage_account *s, struct err *e) MUST_CHECK;
/* Fails if the account is shown as being created. For requests that create or delete it. */
int check_account_is_idle(const struct request *r, const struct storage_account *s,
                          struct err *e) MUST_CHECK;
const char *account_id(struct request *r, const struct storage_account *s);
/* {"name", "tier"} */
json_t *account_sku(const struct storage_account *s);
/* The stored properties of the account; a new reference, never NULL. */
json_t *account_properties(const struct storage_account *s);
void account_render(struct request *r, const struct storage_account *s, struct strbuf *out);
REPLIED account_show(struct request *r, int status, const struct storage_account *s);

#endif
