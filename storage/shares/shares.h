/* SPDX-License-Identifier: MIT
 *
 * The shares room: shares and containers of our own storage accounts, each a row and a folder
 * (share_folder()). Folders may hang, so the workers of storage/folders/ make and move them.
 *
 *   making:    row MAKING -> disk -> folder made -> row THERE
 *   deleting:  row DELETING -> disk -> folder moved to <storage_dir>/.deleted -> row DELETED
 *   purging:   after a while the moved folder is removed, then the row
 *   restoring: row MAKING, with deleted_us -> disk -> folder moved back -> row THERE
 *
 * The row says first what becomes of the folder, so a daemon that was killed goes on where it was,
 * and each step may be done twice. A storage account goes once all its shares have been moved away.
 *
 * An account that was buried (api/testing/seed/detach_group.h) has its id in its name, and so have
 * its shares. What was in them cannot be restored, and is removed at once.
 *
 * A folder may be there before its share: it becomes the share's. One that is a symbolic link is
 * moved as the link that it is. One that cannot be moved, because something is mounted there or its
 * account's folder is on another file system, stays where it is and is only not a share any more.
 * So nothing of the site's is emptied.
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
    int64_t keep_us;                      /* how long what was deleted can be restored */
    const char *subscription, *principal; /* whose accounts are that nobody has created; copied */
    bool strict;                          /* nothing is made by being named */
    const struct wake_kind
        *gone; /* woken with WAKE_ALL when an account is gone: its group may go */
};

/* Shares, and accounts that are being deleted, by the ids of their rows. */
WAKE_KIND(woken_share, "share", WAKE_LAST);
WAKE_KIND(woken_account, "storage account", WAKE_LAST);

struct shares *shares_create(const struct shares_config *c);
/* Goes on with what an earlier start left. Folders that have no rows, as older builds and people
 * make them, get rows. */
int shares_start(struct shares *sh, struct err *e) MUST_CHECK;
/* Calls back, with ERR_UNAVAILABLE, whoever waits: the server stops. The work goes on. */
void shares_end_requests(struct shares *sh);
/* After the wakes have stopped. */
void shares_free(struct shares *sh);

/* The folder of a share. Arena-owned. */
const char *shares_folder(const struct shares *sh, struct arena *a, const struct share *s);

/* `why` is NULL when it is done, and what says so was written in this turn. Called once, never
 * inside the call that asked for it. NULL: nobody waits. */
typedef void (*shares_done)(void *ctx, const struct err *why);

/* Makes a share with the account, name, kind and properties of `s`; its state, etag and instants
 * are set here. ERR_CONFLICT: there is one of this name; ERR_BEING_DELETED: its folder is still
 * being moved away. If the folder cannot be made the row goes again, and `cb` says why. */
int shares_make(struct shares *sh, const struct share *s, int64_t now_us, shares_done cb, void *ctx,
                struct err *e) MUST_CHECK;
/* Calls back once a share that is being made is there. */
void shares_when_made(struct shares *sh, int64_t id, shares_done cb, void *ctx);
/* Deletes a share that is there. ERR_CONFLICT: it is not. If its folder cannot be moved `cb` says
 * why, and it is tried again. */
int shares_delete(struct shares *sh, const struct share *s, int64_t now_us, shares_done cb,
                  void *ctx, struct err *e) MUST_CHECK;
/* Restores a deleted share into the account that has its account's name now. ERR_CONFLICT: there is
 * one of its name; ERR_RESOURCE_NOT_FOUND: there is no such account, or nothing to restore. */
int shares_restore(struct shares *sh, int64_t id, shares_done cb, void *ctx,
                   struct err *e) MUST_CHECK;
/* Deletes a storage account with all it has. `cb` is called when its row is gone. */
int shares_delete_account(struct shares *sh, int64_t account_id, int64_t now_us, shares_done cb,
                          void *ctx, struct err *e) MUST_CHECK;

/* --- what exists by being named (named.c) ---------------------------------------------------- */

/* The group of accounts that nobody has created. */
#define IMPLICIT_GROUP "batchaid-implicit"

/* Makes the group, if it is missing. */
int shares_implicit_group(struct storage *st, struct arena *a, const char *subscription,
                          const char *principal, int64_t now_us, int64_t *id,
                          struct err *e) MUST_CHECK;

/* A share or container as a mount names it, in any case. */
struct share_name {
    const char *account, *share;
    enum share_kind kind;
    const char *key; /* the account's, as base64; NULL: none is given */
    bool needs_key;  /* if the account is there, one of its keys must be given */
};
/* Whether it can be made, or is there. A key that is given for an account which somebody created
 * must be one of the account's; an account that a mount made takes any. If nothing is made by being
 * named, it must be there. ERR_INVALID_PROPERTY says what to create. */
int shares_check_named(struct shares *sh, const struct share_name *n, struct err *e) MUST_CHECK;
/* Makes account and share, unless they are there. Nothing where nothing is made by being named.
 * 1: the share was made. */
int shares_make_named(struct shares *sh, const struct share_name *n, const char *principal,
                      int64_t now_us, struct err *e) MUST_CHECK;

#endif
