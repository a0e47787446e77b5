/* SPDX-License-Identifier: MIT
 *
 * Shares and their queues, only for shares.c, queue.c and act.c.
 */
#ifndef STORAGE_FOLDERS_SHARE_PRIV_H
#define STORAGE_FOLDERS_SHARE_PRIV_H

#include "lib/timefmt.h"
#include "storage/folders/files_priv.h"

struct folder_worker {
    struct folder_job *job; /* NULL: free */
    int64_t since_us;       /* when it began its step (monotonic) */
};

struct folder_share {
    struct folder_share *next;
    struct files *files;
    char *folder;
    struct loop_lane *lane; /* its workers; NULL: it has no work, though files may be open */
    /* while both workers are busy: checks whether they hang; otherwise: ends idle workers */
    struct loop_timer *timer;
    struct folder_worker worker[FILES_WORKERS];
    struct folder_job *queue, **queue_end;
    size_t waiting; /* waiting jobs of clients */
    size_t queued;
    size_t holds;
    bool hung;
    bool in_memory;       /* quick jobs are done on the loop */
    bool called;          /* share_pump() will be called in the next turn */
    bool overdue;         /* the daemon stops, and does not wait for this share any longer */
    int64_t full_said_us; /* time of the last log line about its full disk; 0: never */
};

struct files {
    struct loop *loop;
    const struct log *log;
    struct folder_share *shares;
    struct files_counts counts; /* only done, refused, bytes and open are set */
    bool stopping;
    bool without_sync;
    struct clock time;        /* set by files_in_time(); .now_us NULL: the machine's clock */
    int64_t last_time_ns;     /* the last time that files_time_ns() gave */
    uint64_t times;           /* how many times it gave */
    struct in_memory *memory; /* NULL: no folder is in memory */
    struct loop_timer *stop_timer;
    /* closing lanes, and other work that must end before this struct can be freed */
    size_t closing;
    bool walking; /* an iteration over the shares is in progress: none may be freed */
    size_t left_behind;
    void (*stopped)(void *ctx, size_t left_behind);
    void *stopped_ctx;
};

/* Calls back, unless the job was forgotten or has called back before. */
void job_tell(struct folder_job *job, const struct err *why);
/* Like job_tell(); then destroys the job. No worker may be in it. */
void job_end(struct folder_job *job, const struct err *why);
/* Sets the error that the daemon stops, or that the share hangs. */
void say_unavailable(struct err *e, const struct files *f);
/* Whether the job is a client's request, which need not wait for a share that hangs. */
bool job_is_clients(const struct folder_job *job);

void queue_add(struct folder_share *s, struct folder_job *job);
/* Whether the job must wait because a worker reads bytes while the job wants to write them, or the
 * other way round. */
bool is_kept_apart(const struct folder_share *s, const struct folder_job *job);
/* Removes the job at `at` from the queue. */
struct folder_job *queue_take(struct folder_share *s, struct folder_job **at);
/* Ends the waiting jobs for which `chosen` returns true. */
void queue_refuse(struct folder_share *s, bool (*chosen)(const struct folder_job *job));

#endif
