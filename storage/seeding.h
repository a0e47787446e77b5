/* SPDX-License-Identifier: MIT
 *
 * Writes for seeds that no request needs; a part of storage/storage.h, which describes the common
 * behaviour of these functions.
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

/* Reserves space on the database's disk, so that writes from now on can be undone even if the disk
 * becomes full. close(*fd) frees it; -1: the file system cannot reserve. ERR_STORAGE: too little
 * space. */
int st_room_keep(struct storage *, int64_t bytes, int *fd, struct err *) MUST_CHECK;

/* Makes a job of Azure Batch the job `number` of a schedule, with the name `name`. */
struct st_batch_adoption {
    int64_t id, schedule_id;
    int number;
    const char *name;
    const char *pool_name; /* NULL: it keeps its own */
};

/* --- files that a seed describes --- */

struct batch_seeded_file {
    const char *path;
    int64_t mtime_us, size;
    const char *bytes; /* not terminated; NULL in lists */
};

#endif
