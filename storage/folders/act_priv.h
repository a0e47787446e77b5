/* SPDX-License-Identifier: MIT
 *
 * One change to a share, or a look at it: what is asked for, what a worker found, who is told.
 */
#ifndef STORAGE_FOLDERS_ACT_PRIV_H
#define STORAGE_FOLDERS_ACT_PRIV_H

#include "storage/folders/files_priv.h"
#include "storage/folders/place_priv.h"

struct act;
/* On a worker; touches what is in `act` and nothing else. With act->more it runs again, when the
 * others have had their turn. Leaves errno for FILE_BROKEN. */
typedef enum file_fault (*act_fn)(struct act *a);

struct act {
    struct folder_job job; /* first */
    act_fn run;
    char *share, *path, *to; /* `to`: another path, or NULL */
    char *from_share;        /* that is in this folder; NULL: in the same */
    uint64_t from;
    char *bytes; /* `n` of them */
    size_t n;
    uint64_t offset, len;
    int64_t mtime_ns, atime_ns;
    int64_t time_ns; /* of what it writes: files_time_ns() */
    mode_t mode;
    bool sync; /* what is written is on disk before it is told */
    bool keeps_mtime, appends, wants_md5, replaces; /* see change.h */
    bool has_md5, has_crc64, wants_crc64;
    uint64_t crc64;
    uint8_t md5[FILES_MD5];
    int fd; /* open between two runs; -1 */
    bool more;
    int error; /* errno */
    struct file_result r;
    files_changed cb;
    void *ctx;
};

/* Makes one; act_begin() hands it over to the share's workers. */
struct act *act_new(struct files *f, act_fn run, const struct file_place *at, files_changed cb,
                    void *ctx);
void act_begin(struct files *f, struct act *a);

/* For kinds of jobs that begin with one. */
void act_init(struct act *a, const struct job_kind *kind, act_fn run, files_changed cb, void *ctx);
/* On a worker: closes a->fd. */
void act_close(struct act *a);
/* job_is_for_worker() of a run; then it returns FILE_FINE, and runs again there. */
bool act_is_for_worker(struct act *a, uint64_t bytes);
bool act_step(struct folder_job *job);
void act_tell(struct folder_job *job, const struct err *why);
void act_free(struct act *a);

#endif
