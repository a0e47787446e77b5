/* SPDX-License-Identifier: MIT
 *
 * Storage accounts with their shares and containers; a part of storage/storage.h, which says how
 * all of these functions behave.
 */
#ifndef STORAGE_ACCOUNTS_H
#define STORAGE_ACCOUNTS_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"

struct storage;

/* --- storage accounts ------------------------------------------------------------------------ */
/* New random keys. */
void st_account_new_keys(struct account_keys *out);
/* Wipes them. */
void st_account_forget_keys(struct account_keys *keys);
/* ERR_CONFLICT if there is one of this name, in whatever subscription. */
int st_account_insert(struct storage *, const struct storage_account *s,
                      const struct account_keys *keys, int64_t *id, struct err *);
/* Kept for those who ask again, as each request for what is in an account does; so are its keys and
 * st_share_by_name(). */
int st_account_by_name(struct storage *, struct arena *, const char *name,
                       struct storage_account *out, struct err *);
int st_account_by_id(struct storage *, struct arena *, int64_t id, struct storage_account *out,
                     struct err *);
/* A getter. The caller wipes them after use (st_account_forget_keys()). */
int st_account_keys(struct storage *, int64_t id, struct account_keys *out, struct err *);
/* Replaces the key with this number, 0 or 1. */
int st_account_set_key(struct storage *, int64_t id, int which,
                       const unsigned char key[ACCOUNT_KEY_BYTES], int64_t now_us, struct err *);
/* Everything but name, id and keys. */
int st_account_update(struct storage *, const struct storage_account *s, struct err *);
/* group_id 0: the whole subscription. */
int st_account_list(struct storage *, struct arena *, const char *subscription, int64_t group_id,
                    int64_t after, int limit, struct storage_account **rows, size_t *n,
                    struct err *);
int st_account_count(struct storage *, const char *subscription, int64_t *n, struct err *);

/* --- shares and containers ------------------------------------------------------------------- */
/* ERR_CONFLICT if there is one of this name, or its folder is still being moved away. */
int st_share_insert(struct storage *, const struct share *s, int64_t *id, struct err *);
/* Also one that is being made or moved away: look at its state. Never a deleted one. Names of
 * shares are compared byte by byte. */
int st_share_by_name(struct storage *, struct arena *, int64_t account_id, enum share_kind kind,
                     const char *name, struct share *out, struct err *);
int st_share_by_id(struct storage *, struct arena *, int64_t id, struct share *out, struct err *);
/* Those that are there, in the order of the bytes of their names, from the name after `after` on
 * (""; the first), with names that begin with `prefix`. */
int st_share_list(struct storage *, struct arena *, int64_t account_id, enum share_kind kind,
                  const char *after, const char *prefix, int limit, struct share **rows, size_t *n,
                  struct err *);
/* Everything that clients can change, with s->etag, which the caller lets grow (st_next_etag()).
 * ERR_CONFLICT if it is not there any more, or its etag is not `was` (0: whatever it is). */
int st_share_update(struct storage *, const struct share *s, int64_t was, struct err *);
/* The etag of a change at this instant: ticks of 100 ns since the year 1, as the service has them,
 * and above `was`. */
int64_t st_next_etag(int64_t was, int64_t now_us);
/* A guarded move of a share's state; the only writer of it. `account_id`: SHARE_DELETED has none,
 * whatever is given. `deleted_us`: 0 for one that is being made or there. */
struct st_share_move {
    int64_t id;
    enum share_state from, to;
    int64_t account_id, deleted_us;
};
int st_share_move(struct storage *, const struct st_share_move *m, struct err *) MUST_CHECK;
/* All that an account has, in whatever state. */
int st_share_ids_of(struct storage *, struct arena *, int64_t account_id, int64_t **ids, size_t *n,
                    struct err *);
/* Those whose folder is still to be made or moved away. */
int st_share_unsettled_ids(struct storage *, struct arena *, int64_t **ids, size_t *n,
                           struct err *);
/* Those that were deleted before an instant, by id. */
int st_share_deleted(struct storage *, struct arena *, int64_t before_us, int64_t after, int limit,
                     struct share **rows, size_t *n, struct err *);
/* Forgets what is known of things in a share, at most `limit` of them; *gone is how many. */
int st_share_empty(struct storage *, int64_t id, int limit, int *gone, struct err *);
/* With all that is known of things in it: empty it first, as there can be millions. */
int st_share_remove(struct storage *, int64_t id, struct err *);

#endif
