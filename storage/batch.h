/* SPDX-License-Identifier: MIT
 *
 * The resources of Azure Batch; a part of storage/storage.h, which describes the common behaviour
 * of these functions.
 */
#ifndef STORAGE_BATCH_H
#define STORAGE_BATCH_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/rows.h"
#include "storage/page.h"
#include "storage/sql/batch_account.h"
#include "storage/sql/batch_pool.h"
#include "storage/sql/batch_user.h"
#include "storage/sql/rows.h"

struct filter;
struct storage;

/* --- accounts -------------------------------------------------------------------------------- */
/* ERR_CONFLICT if the name is taken, in any subscription. Keys are made and forgotten by the
 * functions for storage accounts (st_account_new_keys(), st_account_forget_keys()). */
int st_batch_account_insert(struct storage *, const struct batch_account *b,
                            const struct account_keys *keys, int64_t *id, struct err *);
/* A getter. The caller wipes the keys after use. */
int st_batch_account_keys(struct storage *, int64_t id, struct account_keys *out, struct err *);
/* Replaces the key with this number, 0 or 1. */
int st_batch_account_set_key(struct storage *, int64_t id, int which,
                             const unsigned char key[ACCOUNT_KEY_BYTES], struct err *);
int st_batch_account_list(struct storage *, struct arena *, const struct st_filter *,
                          const struct st_page *page, struct batch_account_rows *rows,
                          struct err *);

/* --- pools ----------------------------------------------------------------------------------- */
/* Inserts the pool and its row among the core's pools, whose contents come from `p`. ERR_CONFLICT
 * if the account has a pool of this name. */
int st_batch_pool_insert(struct storage *, const struct batch_pool *p, const char *secrets,
                         int64_t *id, struct err *);
enum batch_pool_property { /* the pool properties that the $filter of a list may name */
                           BATCH_POOL_ID,
                           BATCH_POOL_STATE,
                           BATCH_POOL_STATE_TIME,
                           BATCH_POOL_ALLOCATION,
                           BATCH_POOL_ALLOCATION_TIME,
                           BATCH_POOL_CREATED,
                           BATCH_POOL_MODIFIED,
                           BATCH_POOL_AUTO_SCALE,
                           BATCH_POOL_INTERNODE,
                           BATCH_POOL_VM_SIZE,
                           BATCH_POOL_PROPERTIES
};
/* Replaces the pool's document and secrets, with the time of the change, and the slots and fill
 * type of its nodes. */
int st_batch_pool_set_doc(struct storage *, const struct batch_pool *p, const char *secrets,
                          struct err *) MUST_CHECK;
/* Marks a pool as deleting; ERR_CONFLICT if it is in this state already. */
int st_batch_pool_mark(struct storage *, int64_t id, int64_t now_us, struct err *) MUST_CHECK;

/* Removes a pool with its row among the core's pools and with its role assignments. */
int st_batch_pool_remove(struct storage *, int64_t id, struct err *) MUST_CHECK;

/* --- applications, packages and certificates ---------------------------------------------------
 */
/* Each removes a resource with its role assignments; an application is removed with its
 * packages. */
int st_batch_application_remove(struct storage *, int64_t id, struct err *) MUST_CHECK;
int st_batch_package_remove(struct storage *, int64_t id, struct err *) MUST_CHECK;
int st_batch_certificate_remove(struct storage *, int64_t id, struct err *) MUST_CHECK;

#endif
