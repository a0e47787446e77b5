/* SPDX-License-Identifier: MIT
 *
 * What the files of storage/shares/ share.
 */
#ifndef STORAGE_SHARES_SHARES_PRIV_H
#define STORAGE_SHARES_SHARES_PRIV_H

#include <stdbool.h>

#include "lib/idmap.h"
#include "lib/log.h"
#include "storage/shares/shares.h"

/* --- folder.c: what a worker of storage/folders/ does ---------------------------------------- */

/* Names in it begin with a dot, which no account's name does. */
#define DELETED_DIR ".deleted"

enum folder_task { FOLDER_MAKE, FOLDER_MOVE_AWAY, FOLDER_PURGE };

/* One piece of work on the folder of one share. */
struct folder_work {
    enum folder_task task;
    char *root;  /* the storage directory */
    char *place; /* where the folder is while the share is there */
    char *away;  /* where it is while it can be restored: two may be deleted at one instant */
    char *away_by_time; /* where an earlier daemon put it */
    char *hidden[2];    /* what is not in the folder, but beside it */
    bool sync;          /* directories that change are on disk when it is done */
    bool restore;       /* FOLDER_MAKE: from `away`, if it is there */
    bool tidy;          /* FOLDER_PURGE: what is empty of its account goes too */
    bool stays;         /* found: it cannot be moved, and stays where it is */
    bool failed;
    struct err why; /* if it failed */
};

/* Whether the name of its account is free for others. */
bool share_is_buried(const char *account);
struct folder_work *folder_work_new(const char *root, const struct share *s, enum folder_task task);
void folder_work_free(struct folder_work *w);
/* Blocks. Everything that it does may be done twice. */
void folder_work_do(struct folder_work *w);

/* --- shares.c --------------------------------------------------------------------------------- */

struct share_waiter {
    shares_done cb;
    void *ctx;
    struct share_waiter *next;
};

/* What is under way for one row, and who waits for it. */
struct share_pending {
    struct shares *sh;
    int64_t id;
    enum share_state from; /* of the row that the work was begun for */
    enum share_state want; /* what those who wait want it to be */
    bool busy;             /* a worker has it */
    struct folder_work *work;
    struct share_waiter *waiters;
};

struct shares {
    struct shares_config c;
    char *storage_dir, *subscription, *principal;
    struct id_map shares, accounts; /* of struct share_pending */
    int64_t purged_to;              /* the id where the next pass goes on */
    int64_t sweep_blocks_at_us;     /* of the monotonic clock */
};

/* --- named.c ---------------------------------------------------------------------------------- */
/* 1: there is such a share, or it or its account is being deleted. 0: no. */
int shares_is_named(struct shares *sh, const struct share_name *n, struct err *e) MUST_CHECK;

/* --- found.c ---------------------------------------------------------------------------------- */
/* Looks for folders without rows, and gives them rows, unless nothing is made by being named.
 * Removes what a daemon that was killed had not finished. */
void shares_find(struct shares *sh);

/* --- blocks.c --------------------------------------------------------------------------------- */
/* Removes blocks that were not committed in time, if that was not done today. */
void shares_sweep_blocks(struct shares *sh);

#endif
