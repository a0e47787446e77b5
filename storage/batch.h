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

struct filter;
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
/* Those of all subscriptions that have a task of this name in a job of this name. */
int st_batch_account_with_task(struct storage *, struct arena *, const char *job, const char *task,
                               struct batch_account **rows, size_t *n, struct err *);
int st_batch_account_count(struct storage *, const char *subscription, int64_t *n, struct err *);

/* --- pools ----------------------------------------------------------------------------------- */
/* With its row of the core, all of whose wishes come from `p`. ERR_CONFLICT if the account has one
 * of this name. */
int st_batch_pool_insert(struct storage *, const struct batch_pool *p, const char *secrets,
                         int64_t *id, struct err *);
/* By name, in any case; also one that is being deleted. */
int st_batch_pool_get(struct storage *, struct arena *, int64_t account_id, const char *name,
                      struct batch_pool *out, struct err *);
int st_batch_pool_by_id(struct storage *, struct arena *, int64_t id, struct batch_pool *out,
                        struct err *);
/* Those of an account behind the name `after`, by name. */
enum batch_pool_property { /* that lists may be filtered by */
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
int st_batch_pool_list(struct storage *, struct arena *, int64_t account_id, const struct filter *f,
                       const char *after, int limit, struct batch_pool **rows, size_t *n,
                       struct err *);
int st_batch_pool_count(struct storage *, int64_t account_id, int64_t *n, struct err *) MUST_CHECK;
int st_batch_pool_secrets(struct storage *, struct arena *, int64_t id, const char **secrets,
                          struct err *);
/* Replaces document and secrets, and says when; and slots and filling of nodes. */
int st_batch_pool_set_doc(struct storage *, const struct batch_pool *p, const char *secrets,
                          struct err *) MUST_CHECK;
int st_batch_pool_set_size(struct storage *, int64_t id, const struct batch_size *size,
                           int64_t updated_us, struct err *) MUST_CHECK;
int st_batch_pool_set_scaling(struct storage *, int64_t id, const struct batch_auto_scale *s,
                              int64_t updated_us, struct err *) MUST_CHECK;
/* Marks one as deleting; ERR_CONFLICT if it is that already. */
int st_batch_pool_mark(struct storage *, int64_t id, int64_t now_us, struct err *) MUST_CHECK;
/* Those whose size is not settled; that are being deleted; of these, those without nodes; that are
 * scaled by a formula. */
int st_batch_pool_unsettled_ids(struct storage *, struct arena *, int64_t **ids, size_t *n,
                                struct err *);
int st_batch_pool_deleting_ids(struct storage *, struct arena *, int64_t **ids, size_t *n,
                               struct err *);
int st_batch_pool_removable_ids(struct storage *, struct arena *, int64_t **ids, size_t *n,
                                struct err *);
int st_batch_pool_scaled_ids(struct storage *, struct arena *, int64_t **ids, size_t *n,
                             struct err *);
/* --- who may log in on a node ----------------------------------------------------------------- */
/* ERR_CONFLICT if the node has one of this name. */
int st_batch_user_insert(struct storage *, const struct batch_node_user *u, const char *password,
                         struct err *) MUST_CHECK;
int st_batch_user_get(struct storage *, struct arena *, int64_t node_id, const char *name,
                      struct batch_node_user *out, struct err *);
/* Replaces expiry, key and password. */
int st_batch_user_update(struct storage *, const struct batch_node_user *u, const char *password,
                         struct err *) MUST_CHECK;
int st_batch_user_remove(struct storage *, int64_t id, struct err *) MUST_CHECK;
/* Those of a node whose time is not up, the newest last. */
int st_batch_user_list(struct storage *, struct arena *, int64_t node_id, int64_t now_us,
                       struct batch_node_user **rows, size_t *n, struct err *);
int st_batch_user_password(struct storage *, struct arena *, int64_t id, const char **password,
                           struct err *);

/* Removes it, with its row of the core. */
int st_batch_pool_remove(struct storage *, int64_t id, struct err *) MUST_CHECK;

#endif
