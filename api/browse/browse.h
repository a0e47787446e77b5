/* SPDX-License-Identifier: MIT
 *
 * Files of jobs, shares and containers for users with a browser, at the daemon's own host and with
 * the user's login. The services to which the files belong check rights and names and send the
 * bytes; the code here only shows all files in one form. The context of the handlers is a struct
 * azstorage.
 */
#ifndef API_BROWSE_BROWSE_H
#define API_BROWSE_BROWSE_H

#include "api/access/access.h"
#include "api/http/entries.h"
#include "api/plane/storage/azstorage.h"
#include "api/plane/storage/roles.h"
#include "model/resource.h"

extern const struct service browse_service;
struct error_words browse_words(int kind);

/* --- rights.c --- */

/* The principal's roles; NULL: the first principal, who may do everything. Call it before
 * browsed_find(), which overwrites r->grant. */
static inline const struct grants *held_by(const struct request *r)
{
    return r->grant;
}
/* may_read_all(): whether the principal may read all shares and containers of an account.
 * may_read_one(): whether its roles permit reading one particular share or container. */
bool may_read_all(const struct request *r, const struct storage_account *account);
bool may_read_one(struct request *r, const struct data_place *place);
/* Whether the principal may see the account. */
bool sees_account(struct request *r, const struct storage_account *account);
/* Reads the account and the kind (shares or containers) from the query. Does not check rights. */
int browsed_account(struct request *r, enum share_kind *kind, struct storage_account *out,
                    struct err *e) MUST_CHECK;
/* Finds the share or container that the query names (account, kind, share), checks the rights, and
 * sets r->grant, and r->rest to the path in the share, for functions of the data planes. */
int browsed_find(struct request *r, enum share_kind *kind, struct err *e) MUST_CHECK;

/* --- accounts.c --- */

/* Lists the shares or containers of an account, for items_list() if the query names no share. */
REPLIED names_list(struct request *r);

#endif
