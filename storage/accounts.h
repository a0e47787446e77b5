/* SPDX-License-Identifier: MIT
 *
 * Storage accounts with their shares and containers; a part of storage/storage.h, which describes
 * the common behaviour of these functions.
 */
#ifndef STORAGE_ACCOUNTS_H
#define STORAGE_ACCOUNTS_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"
#include "storage/page.h"
#include "storage/sql/account.h"
#include "storage/sql/rows.h"
#include "storage/sql/share.h"

struct storage;

/* --- storage accounts ------------------------------------------------------------------------ */
/* Makes new random keys. */
void st_account_new_keys(struct account_keys *out);
/* Wipes the keys. */
void st_account_forget_keys(struct account_keys *keys);
/* ERR_CONFLICT if the name is taken, in any subscription. */
int st_account_insert(struct storage *, const struct storage_account *s,
                      const struct account_keys *keys, int64_t *id, struct err *);
/* Writes an account that moves to another group: ends the role assignments at its old path and
 * below it. */
int st_account_move(struct storage *, const struct storage_account *s, struct err *) MUST_CHECK;
/* A getter. The caller wipes the keys after use (st_account_forget_keys()). */
int st_account_keys(struct storage *, int64_t id, struct account_keys *out, struct err *);
/* 1: the text (base64; NULL: none) is one of the account's keys; 0: it is not. */
int st_account_has_key(struct storage *, int64_t id, const char *text, struct err *);
/* Replaces the key with this number, 0 or 1. */
int st_account_set_key(struct storage *, int64_t id, int which,
                       const unsigned char key[ACCOUNT_KEY_BYTES], int64_t now_us, struct err *);
int st_account_list(struct storage *, struct arena *, const struct st_filter *,
                    const struct st_page *page, struct storage_account_rows *rows, struct err *);

/* Writes all properties that clients can change, with s->etag; the caller has raised that etag
 * (st_next_etag()). ERR_CONFLICT if the share is gone, or its etag is not `was` (0: any). */
int st_share_update(struct storage *, const struct share *s, int64_t was, struct err *);
/* The etag of a change at this instant: ticks of 100 ns since the year 1, as in the real service,
 * and greater than `was`. */
int64_t st_next_etag(int64_t was, int64_t now_us);
/* A guarded move of a share's state (ERR_CONFLICT if it is not `from`); the only function that
 * writes the state. `account_id`: ignored for SHARE_DELETED, because a deleted share has no
 * account. `deleted_us`: 0 for states MAKING and THERE. SHARE_DELETED ends the role assignments at
 * the share. */
struct st_share_move {
    int64_t id;
    enum share_state from, to;
    int64_t account_id, deleted_us;
};
int st_share_move(struct storage *, const struct st_share_move *m, struct err *) MUST_CHECK;
/* Removes at most `limit` rows of items in a share; *gone: how many rows were removed. */
int st_share_empty(struct storage *, int64_t id, int limit, int *gone, struct err *);

#endif
