/* SPDX-License-Identifier: MIT
 *
 * The resources of Azure Batch; a part of storage/storage.h, which says how all of these functions
 * behave.
 */
#ifndef STORAGE_BATCH_H
#define STORAGE_BATCH_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/batch/rows.h"

struct storage;

/* --- accounts -------------------------------------------------------------------------------- */
/* ERR_CONFLICT if there is one of this name, in whatever subscription. Keys are made and forgotten
 * as those of storage accounts are (st_account_new_keys(), st_account_forget_keys()). */
int st_batch_account_insert(struct storage *, const struct batch_account *b,
                            const struct account_keys *keys, int64_t *id, struct err *);
/* Also one that is being deleted: look at its state. Kept for those who ask again, as each request
 * for what is in an account does; so are its keys. */
int st_batch_account_by_name(struct storage *, struct arena *, const char *name,
                             struct batch_account *out, struct err *);
int st_batch_account_by_id(struct storage *, struct arena *, int64_t id, struct batch_account *out,
                           struct err *);
/* A getter. The caller wipes them after use. */
int st_batch_account_keys(struct storage *, int64_t id, struct account_keys *out, struct err *);
/* Replaces the key with this number, 0 or 1. */
int st_batch_account_set_key(struct storage *, int64_t id, int which,
                             const unsigned char key[ACCOUNT_KEY_BYTES], struct err *);
/* tags, doc and updated_us of one that is not being deleted. */
int st_batch_account_update(struct storage *, const struct batch_account *b, struct err *);
/* group_id 0: the whole subscription. */
int st_batch_account_list(struct storage *, struct arena *, const char *subscription,
                          int64_t group_id, int64_t after, int limit, struct batch_account **rows,
                          size_t *n, struct err *);
int st_batch_account_count(struct storage *, const char *subscription, int64_t *n, struct err *);

#endif
