/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of storage/shares/.
 */
#ifndef STORAGE_SHARES_SHARES_PRIV_H
#define STORAGE_SHARES_SHARES_PRIV_H

#include <dirent.h>
#include <stdbool.h>

#include "lib/idmap.h"
#include "lib/log.h"
#include "storage/shares/shares.h"

/* --- folder.c: work for a worker of storage/folders/ ------------------------------------------ */

/* The name begins with a dot: an account's name cannot. */
#define DELETED_DIR ".deleted"

enum folder_task { FOLDER_MAKE, FOLDER_MOVE_AWAY, FOLDER_PURGE };

/* A piece of work on the folder of one share. */
struct folder_work {
    enum folder_task task;
    char *root;  /* the storage directory */
    char *place; /* the folder's path while the share exists */
    /* its place while it can be restored; unique even for two deletions at one instant */
    char *away;
    char *away_by_time; /* the place that earlier versions used */
    char *hidden[2];    /* folders beside `place`, with data that clients do not see */
    bool sync;          /* changed directories are on disk at the end */
    bool restore;       /* FOLDER_MAKE: move the folder back from `away`, if it is there */
    bool tidy;          /* FOLDER_PURGE: also removes empty folders of its account */
    bool stays;         /* result: the folder cannot be moved, and stays */
    bool failed;
    struct err why; /* if it failed */
};

/* Whether the account is detached, so that its name is free. */
bool share_is_detached(const char *account);
struct folder_work *folder_work_new(const char *root, const struct share *s, enum folder_task task);
void folder_work_free(struct folder_work *w);
/* Blocks. All of its steps may be repeated. */
void folder_work_do(struct folder_work *w);

/* --- shares.c --------------------------------------------------------------------------------- */

struct share_waiter {
    shares_done cb;
    void *ctx;
    struct share_waiter *next;
};

/* The work in progress for one row, and the waiting requests. */
struct share_pending {
    struct shares *sh;
    int64_t id;
    enum share_state from; /* state of the row when the work began */
    enum share_state want; /* the state that the waiting requests want */
    bool busy;             /* a worker runs `work` */
    struct folder_work *work;
    struct share_waiter *waiters;
};

struct shares {
    struct shares_config c;
    char *storage_dir, *subscription, *principal;
    struct id_map shares, accounts; /* of struct share_pending */
    int64_t purged_to;              /* the id at which the next pass continues */
    int64_t sweep_at_us;            /* monotonic */
};

/* --- pending.c -------------------------------------------------------------------------------- */
/* Returns the entry of a row; makes it if it is missing. */
struct share_pending *share_pending_get(struct shares *sh, struct id_map *map, int64_t id);
/* `cb` NULL: nobody waits. */
void share_pending_add(struct share_pending *p, shares_done cb, void *ctx);
/* Call when the row has reached the wanted state, or cannot reach it (`why`), and no worker has its
 * folder: answers the waiting requests. */
void share_settle(struct id_map *map, int64_t id, const struct err *why);
/* Waits for a row of `sh->shares`; share_await_written(): a row that this turn writes. If the turn
 * is lost, all callbacks that wait for the row are called. */
void share_await(struct shares *sh, int64_t id, enum share_state want, shares_done cb, void *ctx);
void share_await_written(struct shares *sh, int64_t id, enum share_state want, shares_done cb,
                         void *ctx);
/* Ends all requests of the map. */
void share_pendings_end(struct id_map *map, const struct err *why);
/* Call after share_pendings_end(). */
void share_pendings_free(struct id_map *map);

/* --- named.c ---------------------------------------------------------------------------------- */
/* 1: there is such a share, or it or its account is being deleted; 0: there is none; -1: err. */
int shares_is_named(struct shares *sh, const struct share_name *n, struct err *e) MUST_CHECK;

/* --- found.c ---------------------------------------------------------------------------------- */
/* Searches folders without rows, and gives them rows, unless mounts create nothing. Removes
 * unfinished files of a killed daemon. */
void shares_find(struct shares *sh);

/* --- blocks.c --------------------------------------------------------------------------------- */
/* When sweeps run, besides at each start, and the age of what they remove (us). */
#define SWEEP_EVERY_US (INT64_C(24) * 3600 * 1000000)
#define SWEEP_AFTER_US (7 * SWEEP_EVERY_US)
/* Removes blocks of blobs whose last block was put before `before_us`. */
void shares_sweep_blocks(struct shares *sh, int64_t before_us);
/* For sweeps, on a worker. sweep_open(): opens a directory in another directory. sweep_next(): its
 * next name other than "." and "..". NULL: none. */
DIR *sweep_open(int at, const char *name);
const char *sweep_next(DIR *d);
/* Removes some rows of blobs that had only uncommitted blocks. 1: there may be more; 0: that was
 * all; -1: err. */
int shares_forget_uncommitted(struct shares *sh, struct err *e);

/* --- aside.c ---------------------------------------------------------------------------------- */
/* Marks the files in `.aside` that no row names. Removes files that were marked before `before_us`,
 * and unfinished files of a killed daemon. */
void shares_sweep_aside(struct shares *sh, int64_t before_us);

#endif
