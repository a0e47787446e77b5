/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of storage/folders/. A piece of work (struct folder_job) belongs to the loop.
 * While a worker runs its step(), the worker owns the struct that contains it (struct act, for
 * example); the loop may then use only those members of struct folder_job that are "owned by the
 * loop" below. A step uses neither struct files nor struct folder_share: a step that hangs may
 * outlive both.
 */
#ifndef STORAGE_FOLDERS_FILES_PRIV_H
#define STORAGE_FOLDERS_FILES_PRIV_H

#include <stdint.h>

#include "storage/folders/files.h"

struct folder_share;
struct folder_job;

struct job_kind {
    /* Called on a worker. True: there is more to do, and it is called again after other work had
     * its turn. */
    bool (*step)(struct folder_job *job);
    /* Called on the loop, once: reports success, or the reason `why`. If `why` is set, a worker may
     * still be in step(), so only the callback may be read. */
    void (*tell)(struct folder_job *job, const struct err *why);
    /* Called on the loop, when no worker is in the job's step. */
    void (*destroy)(struct folder_job *job);
    bool is_own; /* the daemon's own work: waits without limit */
    /* part of a reply that has begun: waits too, but ends with the clients' requests */
    bool is_begun;
    bool is_quick; /* a step takes less time than passing it to a worker, unless it hangs */
};

/* How a step accesses the bytes of files. While a worker writes bytes in place, no reader of the
 * share runs, so that a parallel reader sees a range as a whole. */
enum job_reach { REACHES_NO_BYTES, READS_BYTES, WRITES_BYTES };

/* A piece of work; the first member of the struct of each kind. */
struct folder_job {
    struct folder_job *next; /* in the queue */
    struct folder_share *share;
    const struct job_kind *kind;
    bool told; /* owned by the loop */
    bool more; /* owned by the worker until the step ends */
    /* owned by the worker until the step ends: the next step accesses no bytes of files */
    bool lets_go;
    enum job_reach reach; /* owned by the loop */
    bool has_worker;      /* owned by the loop */
    bool prompt;          /* owned by the loop, which runs its step now */
    /* owned by the worker until the step ends: the step needs a worker, although its kind is
     * quick */
    bool slow;
};

/* Freeing this many bytes in memory takes some 4 ms. */
#define SLOW_BYTES ((uint64_t)16 * 1024 * 1024)
/* Called in a step that is about to free `bytes` bytes. True: the loop is in the step, so the step
 * must do nothing and report that there is more to do; then a worker repeats it. */
static inline bool job_is_for_worker(struct folder_job *job, uint64_t bytes)
{
    job->slow = job->slow || (job->prompt && bytes > SLOW_BYTES);
    return job->slow && job->prompt;
}

/* Queues the job for the share `folder`; the job is destroyed in any case. */
void job_begin(struct files *f, const char *folder, struct folder_job *job);
/* Like job_begin(), for the share of an open file. */
void job_begin_in(struct folder_share *s, struct folder_job *job);
/* After this the job's callback is not called any more. */
void job_forget(struct folder_job *job);
/* Removes the job from its share's queue and destroys it. False: it is not in the queue. */
bool job_withdraw(struct folder_job *job);

/* Logs, not too often, that the share's disk had no space for the file at `path`. */
void job_says_full(const struct folder_job *job, const char *path);

/* Closes a descriptor of the share on a worker, because closing may hang. */
void close_later(struct folder_share *s, int fd);

/* The share of the folder, if it is in memory and has no waiting work. Then the caller may carry
 * the request out at once, and it is counted as done. NULL: the request must be queued. */
struct folder_share *share_in_memory(struct files *f, const char *folder);
struct files *share_files(const struct folder_share *s);
/* Keeps the share in memory; open files do this. */
void share_hold(struct folder_share *s);
void share_release(struct folder_share *s);
void files_add_bytes(struct files *f, size_t n);

/* Sets the error for an errno of a call on a file of a share. */
void file_error(struct err *e, int error);

#endif
