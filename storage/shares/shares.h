/* SPDX-License-Identifier: MIT
 *
 * Shares and containers of the daemon's storage accounts, each a row and a folder (share_folder()).
 * Folders may hang, so the workers of storage/folders/ make and move them.
 *
 *   making:    row MAKING -> disk -> folder made -> row THERE
 *   deleting:  row DELETING -> disk -> folder moved to <storage_dir>/.deleted -> row DELETED
 *   purging:   after a while the moved folder is removed, then the row
 *   restoring: row MAKING, with deleted_us -> disk -> folder moved back -> row THERE
 *
 * The row gets its next state before the folder is changed, so a killed daemon continues, and each
 * step may be repeated. A storage account is removed when all its shares have been moved away.
 *
 * A detached account (api/testing/seed/detach_group.h) has its id in its name, and so have its
 * shares. Their content cannot be restored, and is removed at once.
 *
 * A folder may exist before its share: then the share gets it. A symbolic link is moved as a link.
 * A folder that cannot be moved, because it is a mount point or its account's folder is on another
 * file system, stays where it is and is no longer a share. So no data of the site is removed.
 */
#ifndef STORAGE_SHARES_SHARES_H
#define STORAGE_SHARES_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"
#include "scheduler/wake/wake.h"

struct files;
struct log;
struct shares;
struct storage;
struct wakes;

struct shares_config { /* all borrowed; storage_dir is copied */
    struct storage *storage;
    struct files *files;
    struct wakes *wakes;
    const struct log *log;
    const char *storage_dir;
    int64_t keep_us;                      /* how long deleted shares can be restored */
    const char *subscription, *principal; /* the owner of accounts that mounts create; copied */
    bool strict; /* a mount does not make the share, container or account that it names */
    /* woken with WAKE_ALL when an account is removed: its group may be removed */
    const struct wake_kind *gone;
};

/* Wakes shares, and accounts that are being deleted, by the ids of their rows. */
WAKE_KIND(woken_share, "share", WAKE_LAST);
WAKE_KIND(woken_account, "storage account", WAKE_LAST);

struct shares *shares_create(const struct shares_config *c);
/* Continues the work of an earlier start. Folders without rows, from older builds or people, get
 * rows. */
int shares_start(struct shares *sh, struct err *e) MUST_CHECK;
/* Changes how long deleted shares can be restored. */
void shares_keep(struct shares *sh, int64_t keep_us);
/* Calls back with ERR_UNAVAILABLE for all waiting requests: the server stops. The work
 * continues. */
void shares_end_requests(struct shares *sh);
/* Call after the wakes have stopped. */
void shares_free(struct shares *sh);

/* The folder of a share. In the arena. */
const char *shares_folder(const struct shares *sh, struct arena *a, const struct share *s);

/* `why` is NULL on success, and the result was written in this turn. Called once, never inside the
 * original call. A NULL callback is not called. */
typedef void (*shares_done)(void *ctx, const struct err *why);

/* Makes a share with the account, name, kind and properties of `s`; this sets its state, etag and
 * instants. ERR_CONFLICT: the name is taken; ERR_BEING_DELETED: its folder is still being moved
 * away, or its account is being deleted; ERR_RESOURCE_NOT_FOUND: the account is gone. If the folder
 * cannot be made the row is removed again, and `cb` gets the reason. */
int shares_make(struct shares *sh, const struct share *s, int64_t now_us, shares_done cb, void *ctx,
                struct err *e) MUST_CHECK;
/* Calls back when a share in state MAKING is complete. */
void shares_when_made(struct shares *sh, int64_t id, shares_done cb, void *ctx);
/* Deletes a share in state THERE. ERR_CONFLICT: another state. If its folder cannot be moved `cb`
 * gets the reason, and the move is tried again. */
int shares_delete(struct shares *sh, const struct share *s, int64_t now_us, shares_done cb,
                  void *ctx, struct err *e) MUST_CHECK;
/* Restores a deleted share into the account that has its account's name now, in its subscription.
 * ERR_CONFLICT: the share's name is taken; ERR_RESOURCE_NOT_FOUND: there is no such account, or
 * nothing to restore. */
int shares_restore(struct shares *sh, int64_t id, shares_done cb, void *ctx,
                   struct err *e) MUST_CHECK;
/* Deletes a storage account with all its shares. `cb` is called when its row is removed. */
int shares_delete_account(struct shares *sh, int64_t account_id, int64_t now_us, shares_done cb,
                          void *ctx, struct err *e) MUST_CHECK;

/* --- creation by mounts (named.c) --- */

/* The group of accounts that mounts create. */
#define IMPLICIT_GROUP "batchaid-implicit"

/* Makes the group, if it is missing. */
int shares_implicit_group(struct storage *st, struct arena *a, const char *subscription,
                          const char *principal, int64_t now_us, int64_t *id,
                          struct err *e) MUST_CHECK;

/* A share or container in a mount, with the name in any case. */
struct share_name {
    const char *account, *share;
    enum share_kind kind;
    const char *key;   /* the account's key in base64; NULL: none is given */
    bool needs_key;    /* if the account exists, one of its keys must be given */
    bool is_elsewhere; /* a rule of the site mounts it: only this key is checked, nothing made */
};
/* Whether the share exists or can be made. A key for an account that a user created must be one of
 * the account's keys; an account that a mount made accepts any key. If mounts create nothing, the
 * share must exist. ERR_INVALID_PROPERTY names the resource to create. */
int shares_check_named(struct shares *sh, const struct share_name *n, struct err *e) MUST_CHECK;
/* Makes account and share, unless they exist. Does nothing if mounts create nothing. 1: the share
 * was made; 0: it was not; -1: err. */
int shares_make_named(struct shares *sh, const struct share_name *n, const char *principal,
                      int64_t now_us, struct err *e) MUST_CHECK;

#endif
