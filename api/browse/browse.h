/* SPDX-License-Identifier: MIT
 *
 * Files for people at a browser, over the daemon's own host and with their own login: files of
 * jobs, shares and containers. The services that have these files decide on rights, names and
 * bytes; this room only shows the files in one form. The handlers' data are struct azstorage.
 */
#ifndef API_BROWSE_BROWSE_H
#define API_BROWSE_BROWSE_H

#include "api/access/sees.h"
#include "api/http/entries.h"
#include "api/plane/storage/azstorage.h"
#include "api/plane/storage/roles.h"
#include "model/resource.h"

extern const struct service browse_service;
struct error_words browse_words(int kind);

/* --- rights.c --- */

/* The principal's roles; NULL: the first principal, who may do everything. Call before
 * browsed_find(). */
static inline const struct grants *held_by(const struct request *r)
{
    return r->grant;
}
/* Whether the principal may read all shares and containers of an account. may_read_one(): whether
 * its roles allow reading a particular one. */
bool may_read_all(const struct request *r, const struct storage_account *account);
bool may_read_one(struct request *r, const struct data_place *place);
/* Whether the principal sees the account. */
bool sees_account(struct request *r, const struct storage_account *account);
/* The account and the kind of the query. Rights are not checked. */
int browsed_account(struct request *r, enum share_kind *kind, struct storage_account *out,
                    struct err *e) MUST_CHECK;
/* Finds the share or container of the query (account, kind, share), checks the rights, and sets
 * r->grant and r->rest, the path in it, for functions of the data planes. */
int browsed_find(struct request *r, enum share_kind *kind, struct err *e) MUST_CHECK;

/* --- accounts.c --- */

/* The shares or containers of an account: for items_list() without a share. */
REPLIED names_list(struct request *r);

#endif
