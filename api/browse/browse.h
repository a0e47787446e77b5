/* SPDX-License-Identifier: MIT
 *
 * Files for people at a browser, over the daemon's own host and with their own login: those of
 * jobs, and of shares and containers. Rights, names and bytes are those of the services that have
 * them; this room only shows them in one form. The handlers' data are struct azstorage.
 */
#ifndef API_BROWSE_BROWSE_H
#define API_BROWSE_BROWSE_H

#include "api/access/sees.h"
#include "api/http/page.h"
#include "api/plane/storage/azstorage.h"
#include "model/resource.h"

extern const struct service browse_service;
struct error_words browse_words(int kind);

/* --- rows.c: a page of files --- */

struct rows {
    struct page *page;
    size_t left_out; /* entries that cannot be shown */
};
/* Reads max and after, and begins the page. */
int rows_begin(struct request *r, struct rows *out, struct err *e) MUST_CHECK;
/* The same for pages whose places are numbers. */
int rows_begin_numbers(struct request *r, struct rows *out, struct err *e) MUST_CHECK;
struct entry {
    const char *name, *path; /* path: what names it in a request; NULL: only its name does */
    bool is_directory;
    uint64_t size;
    int64_t mtime_us; /* 0: not known */
};
/* `key`: the place behind this row. */
void rows_add(struct page *p, const char *key, const struct entry *en);

/* The Content-Type of a file by its name. What a browser would run is application/octet-stream. */
const char *type_of(const char *name);
/* Whether the query has download=true; refuses other values but false. */
int read_download(struct request *r, bool *out, struct err *e) MUST_CHECK;
/* The last part of a path. */
const char *base_name(const char *path);

/* --- rights.c --- */

/* The principal's roles; NULL: the first principal, who may do everything. Before browsed_find().
 */
static inline const struct grants *held_by(const struct request *r)
{
    return r->grant;
}
/* Whether the principal may read all shares and containers of an account; if not, whether its roles
 * allow to read this one. */
bool may_read_all(const struct request *r, const struct storage_account *account);
bool may_read_one(struct request *r, const struct storage_account *account, enum share_kind kind,
                  const char *share);
/* Whether the principal sees the account. */
bool sees_account(struct request *r, const struct storage_account *account);
/* Finds the share or container of the query (account, kind, share), checks the rights, and sets
 * r->grant and r->rest, the path in it, for functions of the data planes. */
int browsed_find(struct request *r, enum share_kind *kind, struct err *e) MUST_CHECK;

#endif
