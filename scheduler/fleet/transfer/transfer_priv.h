/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this directory: a transfer, its owner, and the thread.
 *
 * The loop passes transfers in `queue`, under the lock. The thread moves them into `active`; only
 * the thread uses their curl handles. It returns with the transfers that have results (`told`), and
 * is started again after their callbacks, as long as a transfer has a request. From its first
 * request until it is freed, a transfer stays in `active`, and libcurl may call back for it, also
 * while it has no request.
 */
#ifndef SCHEDULER_FLEET_TRANSFER_TRANSFER_PRIV_H
#define SCHEDULER_FLEET_TRANSFER_TRANSFER_PRIV_H

#include <pthread.h>

#include "lib/strbuf.h"
#include "scheduler/fleet/transfer/curl_functions.h"
#include "scheduler/fleet/transfer/transfer.h"

/* The most bytes that libcurl passes at once. */
#define TRANSFER_CHUNK_MAX ((size_t)CURL_MAX_WRITE_SIZE)

/* A transfer's state decides who takes the next step. The loop may end it in each state but the
 * last.
 *
 *   PAUSED -ask-> QUEUED -take-> RUNNING -tell-> TOLD -hear-> PAUSED
 *   any of them -end-> GONE -take-> freed */
enum transfer_state {
    TRANSFER_PAUSED,  /* next: the loop; there is no request */
    TRANSFER_QUEUED,  /* next: the thread, which has not taken it yet */
    TRANSFER_RUNNING, /* next: the thread, which carries the request out */
    TRANSFER_TOLD,    /* next: the loop, when the thread has returned */
    TRANSFER_GONE,    /* next: the thread, which frees the transfer */
};

enum transfer_event {
    TRANSFER_ASK,  /* the loop queues it */
    TRANSFER_END,  /* the loop queues it for the last time */
    TRANSFER_TAKE, /* the thread takes it out of the queue */
    TRANSFER_TELL, /* the thread has done the request, or failed */
    TRANSFER_HEAR, /* the loop takes the result */
};

enum transfer_asked { ASKED_NOTHING, ASKED_READ, ASKED_WRITE };

struct transfer {
    struct transfers *tr;
    struct transfer *next_queued, *next_active, *next_told;
    /* under the lock */
    enum transfer_state state;
    bool is_queued, is_active, is_told; /* in which lists it is */
    /* used by the loop only */
    union {
        transfer_read_cb read;
        transfer_write_cb write;
    } cb;
    void *ctx;
    /* owned by the loop while the transfer is paused or told, otherwise by the thread */
    struct transfer_wish {
        enum transfer_asked asked;
        size_t max; /* for a read: the most bytes */
        char *out;  /* for a write: the bytes; owned */
        size_t n_out, out_at;
    } wish;
    /* constant during the transfer's life */
    char *url;
    bool put, own;
    uint64_t length;
    char **lines;
    size_t n_lines;
    int64_t begin_us;  /* monotonic; the transfer does not begin before */
    int64_t silent_us; /* us without a byte after which the transfer fails */
    /* owned by the thread; the loop reads results while the thread does not run */
    bool runs;  /* the transfer is running, or was ended while running; otherwise libcurl neither
                   gets nor passes bytes */
    CURL *curl; /* NULL: not begun */
    struct curl_slist *headers, *to;
    struct strbuf in;
    long status;
    bool is_held; /* libcurl was paused */
    bool answered, over;
    bool in_head; /* in the headers of the answer, or of an earlier answer: 100, or a redirection */
    int64_t moved_us; /* when the last byte was transferred */
    struct err why;   /* code ERR_NONE: no error so far */
    char trouble[CURL_ERROR_SIZE];
};

struct transfers {
    struct loop *loop;
    struct loop_lane *lane;
    struct loop_lane *reading; /* of transfers_work() */
    pthread_t loop_thread;
    int64_t silent_us;
    char *ca_file;
    bool driven;           /* the thread runs, or its results are being reported */
    struct transfer *told; /* belongs to the thread while it runs */
    /* under the lock */
    pthread_mutex_t lock;
    bool out; /* the thread runs */
    struct transfer *queue, **queue_end;
    char *own;      /* the daemon's own address, for CURLOPT_CONNECT_TO; NULL: not known */
    CURLM *waiting; /* by which the loop wakes the thread; NULL: it does not wait */
    bool closing;
    /* used by the thread only */
    struct curl_functions lib;
    bool loaded;
    CURLM *multi;
    struct transfer *active;
    int64_t looked_us; /* when the thread's last pass over the transfers began */
    /* called when `tr` is freed */
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* Takes the step, and asserts that this state and this thread allow it, and that the transfer is in
 * the lists and has the request that the new state needs. With the lock held. */
void transfer_step(struct transfer *t, enum transfer_event event);

/* The function that the thread runs: drives all transfers until one has a result, or none has a
 * request. */
void transfers_drive(void *ctx);

/* A clock for both threads, because only the loop's thread may use the loop's clock. */
int64_t transfer_now_us(void);

#endif
