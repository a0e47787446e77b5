/* SPDX-License-Identifier: MIT
 *
 * A change to a share, or a query: the request, the worker's result, and the callback.
 */
#ifndef STORAGE_FOLDERS_ACT_PRIV_H
#define STORAGE_FOLDERS_ACT_PRIV_H

#include "storage/folders/files_priv.h"
#include "storage/folders/place_priv.h"

struct act;
/* Runs on a worker, and touches only the content of `act`. If it sets act->more, it is called again
 * after other work had its turn. Leaves errno for FILE_BROKEN. */
typedef enum file_fault (*act_fn)(struct act *a);

struct act {
    struct folder_job job; /* must be first */
    act_fn run;
    char *share, *path, *to; /* `to`: another path, or NULL */
    char *from_share;        /* the folder of `from`; NULL: the share's folder */
    uint64_t from;
    char *bytes; /* `n` bytes */
    size_t n;
    uint64_t offset, len;
    int64_t mtime_ns, atime_ns;
    int64_t time_ns; /* time for the written file: files_time_ns() */
    mode_t mode;
    bool sync; /* written data must be on disk before the callback */
    bool keeps_mtime, appends, wants_md5, replaces; /* see change.h */
    bool has_md5, has_crc64, wants_crc64;
    uint64_t crc64;
    uint8_t md5[FILES_MD5];
    int fd; /* open between two calls of `run`; -1: not open */
    bool more;
    int error; /* errno */
    struct file_result r;
    files_changed cb;
    void *ctx;
};

/* Makes an act; act_begin() passes it to the share's workers. */
struct act *act_new(struct files *f, act_fn run, const struct file_place *at, files_changed cb,
                    void *ctx);
void act_begin(struct files *f, struct act *a);

/* Initializes the act inside a job of another kind. */
void act_init(struct act *a, const struct job_kind *kind, act_fn run, files_changed cb, void *ctx);
/* On a worker: closes a->fd. */
void act_close(struct act *a);
/* job_is_for_worker() for the function of an act. True: the function must return FILE_FINE, and is
 * called again on a worker. */
bool act_is_for_worker(struct act *a, uint64_t bytes);
bool act_step(struct folder_job *job);
void act_tell(struct folder_job *job, const struct err *why);
void act_free(struct act *a);

#endif
