/* SPDX-License-Identifier: MIT
 *
 * What the files of this room share: a transfer, whose it is, and the thread.
 *
 * The loop hands transfers over in `queue`, under the lock. The thread takes them into `active` and
 * is the only one that touches their curl handles. It returns with those that have something to
 * tell (`told`), and is sent out again, once their callbacks have run, as long as one is asked for.
 * A transfer stays in `active`, and libcurl may call back for it, from when it was taken first
 * until it is freed, also while nothing is asked of it.
 */
#ifndef SCHEDULER_FLEET_TRANSFER_TRANSFER_PRIV_H
#define SCHEDULER_FLEET_TRANSFER_TRANSFER_PRIV_H

#include <pthread.h>

#include "lib/strbuf.h"
#include "scheduler/fleet/transfer/curl_functions.h"
#include "scheduler/fleet/transfer/transfer.h"

/* What libcurl hands over at once, at most. */
#define TRANSFER_CHUNK_MAX ((size_t)CURL_MAX_WRITE_SIZE)

/* A transfer's state says who takes the next step. The loop may end it in each but the last.
 *
 *   PAUSED -ask-> QUEUED -take-> RUNNING -tell-> TOLD -hear-> PAUSED
 *   any of them -end-> GONE -take-> freed
 */
enum transfer_state {
    TRANSFER_PAUSED,  /* the loop: nothing is asked */
    TRANSFER_QUEUED,  /* the thread, which has not taken it yet */
    TRANSFER_RUNNING, /* the thread */
    TRANSFER_TOLD,    /* the loop, once the thread is back */
    TRANSFER_GONE,    /* the thread, which frees it when it takes it */
};

enum transfer_event {
    TRANSFER_ASK,  /* the loop hands it over */
    TRANSFER_END,  /* the loop hands it over for the last time */
    TRANSFER_TAKE, /* the thread takes it out of the queue */
    TRANSFER_TELL, /* the thread has done what was asked, or cannot */
    TRANSFER_HEAR, /* the loop takes what came of it */
};

enum transfer_asked { ASKED_NOTHING, ASKED_READ, ASKED_WRITE };

struct transfer {
    struct transfers *tr;
    struct transfer *next_queued, *next_active, *next_told;
    /* under the lock */
    enum transfer_state state;
    bool is_queued, is_active, is_told; /* in which lists it is */
    /* the loop's */
    union {
        transfer_read_cb read;
        transfer_write_cb write;
    } cb;
    void *ctx;
    /* of whose turn it is: the loop's while it is paused or told, else the thread's */
    struct transfer_wish {
        enum transfer_asked asked;
        size_t max; /* to read */
        char *out;  /* to write; owned */
        size_t n_out, out_at;
    } wish;
    /* what it is: nobody changes that */
    char *url;
    bool put, own;
    uint64_t length;
    char **lines;
    size_t n_lines;
    int64_t begin_us;  /* monotonic; not earlier */
    int64_t silent_us; /* so long without a byte ends it */
    /* the thread's; the loop reads what is told while the thread is not out */
    bool runs;  /* it is running or was ended since; else libcurl gets and gives nothing */
    CURL *curl; /* NULL: not begun */
    struct curl_slist *headers, *to;
    struct strbuf in;
    long status;
    bool is_held; /* libcurl was told to wait */
    bool answered, over;
    bool in_head;     /* of its answer, or of one before it: 100, or where it is sent on to */
    int64_t moved_us; /* the last byte */
    struct err why;   /* code ERR_NONE: it went well so far */
    char trouble[CURL_ERROR_SIZE];
};

struct transfers {
    struct loop *loop;
    struct loop_lane *lane;
    pthread_t loop_thread;
    int64_t silent_us;
    char *ca_file;
    bool driven;           /* the thread is out, or what it came back with is being told */
    struct transfer *told; /* the thread's while it is out */
    /* under the lock */
    pthread_mutex_t lock;
    bool out; /* the thread is */
    struct transfer *queue, **queue_end;
    char *own;      /* for CURLOPT_CONNECT_TO; NULL: not known */
    CURLM *waiting; /* to be woken; NULL: the thread does not wait */
    bool closing;
    /* the thread's */
    struct curl_functions lib;
    bool loaded;
    CURLM *multi;
    struct transfer *active;
    int64_t looked_us; /* when the last turn began, in which libcurl looks for bytes */
    /* the end */
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* Takes the step and asserts that it may be taken: from this state, on this thread, and with the
 * transfer in the lists, and asked for what, its new state says. With the lock held. */
void transfer_step(struct transfer *t, enum transfer_event event);

/* What the thread does while it is out: the work function of the lane, with the transfers. */
void transfers_drive(void *ctx);

/* The loop's clock is its thread's alone. */
int64_t transfer_now_us(void);

#endif
