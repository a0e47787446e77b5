/* SPDX-License-Identifier: MIT
 *
 * Shares and their queues, for shares.c, queue.c and time.c alone.
 */
#ifndef STORAGE_FOLDERS_SHARE_PRIV_H
#define STORAGE_FOLDERS_SHARE_PRIV_H

#include "lib/timefmt.h"
#include "storage/folders/files_priv.h"

struct folder_worker {
    struct folder_job *job; /* NULL: free */
    int64_t since_us;       /* when it began its step */
};

struct folder_share {
    struct folder_share *next;
    struct files *files;
    char *folder;
    struct loop_lane *lane; /* its workers; NULL: nothing is done on it, though files may be open */
    struct loop_timer *timer; /* while both workers are busy, checks whether they hang; otherwise
                                 ends idle workers */
    struct folder_worker worker[FILES_WORKERS];
    struct folder_job *queue, **queue_end;
    size_t waiting; /* of clients */
    size_t queued;
    size_t holds;
    bool hung;
    bool in_memory;       /* quick jobs are done on the loop */
    bool called;          /* they will be, in its next turn */
    bool overdue;         /* all stops, and it is waited for no longer */
    int64_t full_said_us; /* when the log was last told that its disk is full; 0: never */
};

struct files {
    struct loop *loop;
    const struct log *log;
    struct folder_share *shares;
    struct files_counts counts; /* done, refused, bytes, open */
    bool stopping;
    bool without_sync;
    struct clock time;        /* files_in_time(); .now_us NULL: the machine's */
    int64_t last_time_ns;     /* that it gave */
    uint64_t times;           /* how many */
    struct in_memory *memory; /* NULL: nothing is */
    struct loop_timer *stop_timer;
    size_t closing; /* lanes, and what else must end before it can */
    bool walking;   /* through the shares: none may go */
    size_t left_behind;
    void (*stopped)(void *ctx, size_t left_behind);
    void *stopped_ctx;
};

/* Calls back, unless the job was forgotten or told before. */
void job_tell(struct folder_job *job, const struct err *why);
/* The same; then the job is gone. No worker may be in it. */
void job_end(struct folder_job *job, const struct err *why);
/* Sets the error: all of files stops, or the share hangs. */
void say_unavailable(struct err *e, const struct files *f);
/* A request of a client's, which need not wait for a share that hangs. */
bool job_is_clients(const struct folder_job *job);

void queue_add(struct folder_share *s, struct folder_job *job);
/* Whether a worker reads while it wants to write, or the other way round. */
bool is_kept_apart(const struct folder_share *s, const struct folder_job *job);
/* Takes out the job that `at` leads to. */
struct folder_job *queue_take(struct folder_share *s, struct folder_job **at);
/* Ends the waiting jobs that are `chosen`. */
void queue_refuse(struct folder_share *s, bool (*chosen)(const struct folder_job *job));

#endif
