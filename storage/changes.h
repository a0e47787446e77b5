/* SPDX-License-Identifier: MIT
 *
 * The changes of all resources (made, changed, removed) in the order of their commits. Triggers of
 * this connection write them, so no writer has to think of them, a rolled-back change leaves no
 * row, and a daemon that does not request them pays nothing.
 *
 * A resource exists if clients see it; a soft-deleted vault or container does not exist. The
 * consequences of a detachment (st_group_detach()) are not reported.
 */
#ifndef STORAGE_CHANGES_H
#define STORAGE_CHANGES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "storage/sql/change.h"

struct loop;
struct storage;

/* Databases contain these numbers. */
enum change_kind {
    CHANGE_GROUP = 1,
    CHANGE_WORKSPACE = 2,
    CHANGE_EXPERIMENT = 3,
    CHANGE_CLUSTER = 4,
    CHANGE_FILE_SERVER = 5,
    CHANGE_JOB = 6,
    CHANGE_NODE = 7,
    CHANGE_STORAGE_ACCOUNT = 8,
    CHANGE_BATCH_ACCOUNT = 9,
    CHANGE_BATCH_POOL = 10,
    CHANGE_BATCH_JOB = 11,
    CHANGE_BATCH_TASK = 12,
    CHANGE_BATCH_SCHEDULE = 13,
    CHANGE_BATCH_CERTIFICATE = 14,
    CHANGE_BATCH_APPLICATION = 15,
    CHANGE_BATCH_PACKAGE = 16,
    CHANGE_CONTAINER = 17,
    CHANGE_SHARE = 18,
    CHANGE_VAULT = 19,
    CHANGE_SECRET = 20,
    CHANGE_ROLE_ASSIGNMENT = 21,
};
#define CHANGE_KINDS (CHANGE_ROLE_ASSIGNMENT + 1)

enum change_what { CHANGE_MADE = 1, CHANGE_DONE = 2, CHANGE_REMOVED = 3 };

struct change {
    int64_t seq, at_us;
    enum change_kind kind;
    int64_t resource_id;
    /* path in the resource manager, or a similar path for resources outside of it */
    const char *path;
    enum change_what what;
    int from, to;       /* states of the kind; 0: none, or the kind has no states */
    const char *reason; /* NULL: none was given */
};

/* Begins to keep the latest hundred thousand changes; their times come from `loop` (borrowed). The
 * triggers are made before the next write, which takes a few milliseconds longer; a start without
 * writes makes none. */
int st_changes_keep(struct storage *, struct loop *loop, struct err *) MUST_CHECK;
/* Hides the changes of `path` and below it; NULL: all. Their numbers are not used again. */
int st_changes_forget(struct storage *, const char *path, struct err *) MUST_CHECK;
/* Removes rows of hidden changes, at most `limit`; *gone: how many were removed. */
int st_changes_sweep(struct storage *, int limit, int *gone, struct err *) MUST_CHECK;

#endif
