/* SPDX-License-Identifier: MIT
 *
 * Transfers bytes from and to URLs of other servers, by HTTP and HTTPS, piece by piece, so that no
 * large file is kept in memory. The caller requests each piece; until then the other server waits.
 *
 *   GET: transfer_begin() -> transfer_read() ... until `end` -> transfer_end()
 *   PUT: transfer_begin() -> transfer_write() ... -> transfer_read(): the answer -> transfer_end()
 *
 * One thread carries all of them out (libcurl's multi interface); it is started and loads libcurl
 * with the first transfer. Another thread does the work of transfers_work(). Each transfer may have
 * one pending call; its callback runs once, on the loop, never inside the call. Texts are copied.
 * URLs may contain signatures, so messages and log lines contain only transfer_shown().
 */
#ifndef SCHEDULER_FLEET_TRANSFER_TRANSFER_H
#define SCHEDULER_FLEET_TRANSFER_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/loop.h"

struct transfers;
struct transfer;

struct transfers_config {
    struct loop *loop;   /* borrowed */
    int silent_s;        /* seconds without a byte from the other server until the transfer fails */
    const char *ca_file; /* the certificate authority of the daemon; copied */
};

struct transfers *transfers_create(const struct transfers_config *c);
/* The address of this daemon ("https://127.0.0.1:7443"), for transfers with `own`. */
void transfers_set_own(struct transfers *tr, const char *url);
/* All transfers must have been ended; none may begin any more. `stopped` runs when `tr` is
 * freed. */
void transfers_stop(struct transfers *tr, void (*stopped)(void *ctx), void *ctx);

struct transfer_ask {
    const char *url;
    bool put;        /* otherwise a GET, which follows redirections */
    bool own;        /* the URL's host is this daemon, whatever the host name resolves to */
    uint64_t length; /* of a PUT, in bytes */
    const char *const *headers; /* "Name: value"; with an invalid line (header_line_ok()) the
                                   transfer sends nothing and fails with ERR_IO */
    size_t n_headers;
    int64_t delay_us; /* delay before the transfer begins */
    int64_t work_us;  /* additional time for the other server's answer, on top of silent_s */
};
struct transfer *transfer_begin(struct transfers *tr, const struct transfer_ask *ask);
/* Ends the transfer; a pending call does not call back any more. */
void transfer_end(struct transfer *t);

struct transfer_got {
    long status; /* the HTTP status of the other server */
    char *bytes; /* malloc'ed; a callback that keeps them sets NULL */
    size_t n;    /* at most the requested number; fewer only at the end */
    bool end;    /* no more bytes follow */
};
/* `why` not NULL: there is no valid HTTP answer, and *got is unset. ERR_UNAVAILABLE: the server was
 * silent for too long; ERR_IO: other failures. An answer of any status is not a failure. */
typedef void (*transfer_read_cb)(void *ctx, const struct err *why, struct transfer_got *got);
void transfer_read(struct transfer *t, size_t max, transfer_read_cb cb, void *ctx);
/* Sends `bytes` (malloc'ed), and takes them over. If the server has answered already, the bytes are
 * dropped, and transfer_read() returns the answer. */
typedef void (*transfer_write_cb)(void *ctx, const struct err *why);
void transfer_write(struct transfer *t, char *bytes, size_t n, transfer_write_cb cb, void *ctx);

/* Answers may take long to understand: runs `work` on a thread, then `done` on the loop, never
 * inside the call. False: too much work waits; neither is called. */
bool transfers_work(struct transfers *tr, loop_fn work, loop_work_done done, void *ctx) MUST_CHECK;

/* --- results of answers ----------------------------------------------------------------------- */

/* Whether the status is a success. 206 is not: it is a part of the content, and parts are never
 * requested. */
static inline bool transfer_is_good(long status)
{
    return status >= 200 && status < 300 && status != 206;
}
/* Whether another try may succeed after this status. */
bool transfer_may_pass(long status);
/* Fills `e` from an answer with an error status, with the status and, if the body contains it, the
 * service's error code: ERR_FILE_NOT_FOUND for 404, ERR_FORBIDDEN for 401 and 403, otherwise
 * ERR_IO. Returns -1. */
int transfer_refused(long status, const char *body, size_t n, struct err *e);
/* The URL without query, fragment, and user, because these may be secret. In the arena. */
const char *transfer_shown(struct arena *a, const char *url);

#endif
