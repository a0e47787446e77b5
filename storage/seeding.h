/* SPDX-License-Identifier: MIT
 *
 * What seeds write and no request does; a part of storage/storage.h, which says how all of these
 * functions behave.
 */
#ifndef STORAGE_SEEDING_H
#define STORAGE_SEEDING_H

#include "lib/arena.h"
#include "lib/err.h"
#include "model/resource.h"
#include "storage/sql/batch_file.h"
#include "storage/sql/batch_job.h"
#include "storage/sql/group.h"
#include "storage/sql/people.h"
#include "storage/sql/pool.h"
#include "storage/sql/vault.h"

struct storage;

/* Keeps so much of the database's disk free for whoever has to undo what is written from now on: a
 * full disk would not let them. close(*fd) gives it back; -1: the file system can keep none.
 * ERR_STORAGE: it has not so much. */
int st_room_keep(struct storage *, int64_t bytes, int *fd, struct err *) MUST_CHECK;

/* A job of Azure Batch is the job `number` of a schedule from now on, and called `name`. */
struct st_batch_adoption {
    int64_t id, schedule_id;
    int number;
    const char *name;
};

/* --- files that a seed told of ---------------------------------------------------------------- */

struct batch_seeded_file {
    const char *path;
    int64_t mtime_us, size;
    const char *bytes; /* not terminated; NULL in lists */
};

#endif
