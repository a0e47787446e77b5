/* SPDX-License-Identifier: MIT
 *
 * What the files of storage/folders/ share. A piece of work (struct folder_job) belongs to the
 * loop, except while a worker is in its step(): then the worker owns what the kind keeps in it, and
 * the loop may touch `job.base` only. A step touches neither files nor share, because it may
 * outlive both in a call that hangs.
 */
#ifndef STORAGE_FOLDERS_FILES_PRIV_H
#define STORAGE_FOLDERS_FILES_PRIV_H

#include <stdint.h>

#include "storage/folders/files.h"

struct folder_share;
struct folder_job;

struct job_kind {
    /* On a worker. True: there is more to do, when the others have had their turn. */
    bool (*step)(struct folder_job *job);
    /* On the loop, once: tells that it is done, or `why` it was not. With a `why` a worker may
     * still be in step(), so only the callback may be read. */
    void (*tell)(struct folder_job *job, const struct err *why);
    /* On the loop; no worker is in it. */
    void (*destroy)(struct folder_job *job);
    bool is_own;   /* the daemon's own work: waits as long as it must */
    bool is_begun; /* part of a reply that has begun: the same, but ends with the requests */
    bool is_quick; /* a step takes less than handing it to a worker, unless it hangs */
};

/* What a step reaches of files' bytes. While bytes are written in place nobody of the same share
 * reads any, so that a range is whole for whoever reads beside it. */
enum job_reach { REACHES_NO_BYTES, READS_BYTES, WRITES_BYTES };

/* First in what a kind keeps. */
struct folder_job {
    struct folder_job *next; /* in the queue */
    struct folder_share *share;
    const struct job_kind *kind;
    bool told;            /* loop's */
    bool more;            /* worker's, until the step's end */
    bool lets_go;         /* likewise: the next step reaches no bytes */
    enum job_reach reach; /* loop's */
    bool has_worker;      /* loop's */
    bool prompt;          /* the loop is in its step */
    bool slow;            /* then that it is for a worker, although its kind is quick */
};

/* Freed in memory, these take some 4 ms. */
#define SLOW_BYTES ((uint64_t)16 * 1024 * 1024)
/* In a step that is about to free so many bytes: whether it is to do nothing, but say that there is
 * more to do, because the loop is in it; a worker repeats it. */
static inline bool job_is_for_worker(struct folder_job *job, uint64_t bytes)
{
    job->slow = job->slow || (job->prompt && bytes > SLOW_BYTES);
    return job->slow && job->prompt;
}

/* Queues the job for the share `folder`; the job is destroyed in any case. */
void job_begin(struct files *f, const char *folder, struct folder_job *job);
/* The same, for the share of an open file. */
void job_begin_in(struct folder_share *s, struct folder_job *job);
/* Its callback does not run any more. */
void job_forget(struct folder_job *job);
/* Takes it out of its share's queue and destroys it. False: it does not wait there. */
bool job_withdraw(struct folder_job *job);

/* Tells the log, not too often, that the share's disk had no room for what is at `path`. */
void job_says_full(const struct folder_job *job, const char *path);

/* Closes a descriptor of the share's, which may hang, on a worker. */
void close_later(struct folder_share *s, int fd);

/* That of the folder, if it is in memory and nothing waits for it: what is asked of it may be done
 * at once, and counts as done. NULL: it is queued. */
struct folder_share *share_in_memory(struct files *f, const char *folder);
struct files *share_files(const struct folder_share *s);
/* Held by open files. */
void share_hold(struct folder_share *s);
void share_release(struct folder_share *s);
void files_add_bytes(struct files *f, size_t n);

/* What errno, set by a call on a file of a share, means. */
void file_error(struct err *e, int error);

#endif
