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

struct storage;

/* A group that a seed makes is creating until all in it is there. ERR_RESOURCE_NOT_FOUND: it is in
 * another state. */
int st_group_making(struct storage *, int64_t id, struct err *) MUST_CHECK;
int st_group_made(struct storage *, int64_t id, struct err *) MUST_CHECK;
/* Those that are creating. */
int st_group_unmade(struct storage *, struct arena *, struct resource_group **rows, size_t *n,
                    struct err *) MUST_CHECK;

/* Keeps so much of the database's disk free for whoever has to undo what is written from now on: a
 * full disk would not let them. close(*fd) gives it back; -1: the file system can keep none.
 * ERR_STORAGE: it has not so much. */
int st_room_keep(struct storage *, int64_t bytes, int *fd, struct err *) MUST_CHECK;

/* Whether the group of a cluster or of a pool of Azure Batch is creating. */
int st_pool_is_unmade(struct storage *, int64_t pool_id, bool *unmade, struct err *) MUST_CHECK;
int st_subscription_name(struct storage *, int64_t id, const char *name, struct err *) MUST_CHECK;

/* A version of a secret is called so from now on. ERR_CONFLICT: another one is. */
int st_secret_version_name(struct storage *, int64_t id, const char *version,
                           struct err *) MUST_CHECK;

/* A job of Azure Batch is the job `number` of a schedule from now on, and called `name`. */
struct st_batch_adoption {
    int64_t id, schedule_id;
    int number;
    const char *name;
};
int st_batch_job_adopt(struct storage *, const struct st_batch_adoption *x,
                       struct err *) MUST_CHECK;

/* --- files that a seed told of ---------------------------------------------------------------- */

struct batch_seeded_file {
    const char *path;
    int64_t mtime_us, size;
    const char *bytes; /* not terminated; NULL in lists */
};
/* Of a task that never was on a node; they go with it. */
int st_batch_file_add(struct storage *, int64_t task_id, const struct batch_seeded_file *f,
                      struct err *) MUST_CHECK;
int st_batch_file_get(struct storage *, struct arena *, int64_t task_id, const char *path,
                      struct batch_seeded_file *out, struct err *);
/* By path. */
int st_batch_file_list(struct storage *, struct arena *, int64_t task_id,
                       struct batch_seeded_file **rows, size_t *n, struct err *);
/* A file, or all that is below a directory; *n: how many there were. */
int st_batch_file_remove(struct storage *, int64_t task_id, const char *path, int *n,
                         struct err *) MUST_CHECK;

#endif
