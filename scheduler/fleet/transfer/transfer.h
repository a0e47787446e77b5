/* SPDX-License-Identifier: MIT
 *
 * The transfer room: bytes from and to URLs of others, by HTTP and HTTPS, piece by piece, so that
 * nothing of a large file is kept here. Whoever reads decides when the next piece comes; meanwhile
 * the other end waits.
 *
 *   GET: transfer_begin() -> transfer_read() ... until `end` -> transfer_end()
 *   PUT: transfer_begin() -> transfer_write() ... -> transfer_read(): the answer -> transfer_end()
 *
 * All of them are carried out by one thread (libcurl's multi interface), which is started and loads
 * libcurl with the first one. One call at a time for each transfer; callbacks run on the loop,
 * once, never inside the call. Texts are copied. URLs may have signatures, so no message and no
 * line of the log has more of them than transfer_shown().
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
    int silent_s;        /* after so long without a byte from the other end it is given up */
    const char *ca_file; /* the authority that the daemon's own certificates are of; copied */
};

struct transfers *transfers_create(const struct transfers_config *c);
/* Where the daemon itself answers ("https://127.0.0.1:7443"), for those that are `own`. */
void transfers_set_own(struct transfers *tr, const char *url);
/* All must have been ended; none may be begun any more. `stopped` runs when `tr` is gone. */
void transfers_stop(struct transfers *tr, void (*stopped)(void *ctx), void *ctx);

struct transfer_ask {
    const char *url;
    bool put;                   /* else GET, which follows where it is sent on to */
    bool own;                   /* a host of the daemon's, whatever its name leads to */
    uint64_t length;            /* of what is put */
    const char *const *headers; /* "Name: value" */
    size_t n_headers;
    int64_t delay_us; /* before it begins */
    int64_t work_us;  /* that the other end may need before it answers, besides silent_s */
};
struct transfer *transfer_begin(struct transfers *tr, const struct transfer_ask *ask);
/* A call under way does not call back any more. */
void transfer_end(struct transfer *t);

struct transfer_got {
    long status; /* as the other end says */
    char *bytes; /* malloc; a callback that takes them leaves NULL */
    size_t n;    /* at most what was asked for; fewer at the end only */
    bool end;    /* nothing follows */
};
/* `why`: the other end did not answer as HTTP asks for, and the rest is unset. ERR_UNAVAILABLE: it
 * was silent for too long; ERR_IO: anything else. An answer of any status is none of these. */
typedef void (*transfer_read_cb)(void *ctx, const struct err *why, struct transfer_got *got);
void transfer_read(struct transfer *t, size_t max, transfer_read_cb cb, void *ctx);
/* Sends `bytes` (malloc), which become the room's. The other end may have refused by then: what is
 * written further goes nowhere, and transfer_read() says how. */
typedef void (*transfer_write_cb)(void *ctx, const struct err *why);
void transfer_write(struct transfer *t, char *bytes, size_t n, transfer_write_cb cb, void *ctx);

/* --- what answers say ------------------------------------------------------------------------- */

/* 206 is a part of what there is, and nobody asks for parts. */
static inline bool transfer_is_good(long status)
{
    return status >= 200 && status < 300 && status != 206;
}
/* Whether another try may succeed. */
bool transfer_may_pass(long status);
/* Fills `e` from an answer that is not good, with its status and, as far as the body says one, the
 * service's code: ERR_FILE_NOT_FOUND for 404, ERR_FORBIDDEN for 401 and 403, else ERR_IO. Returns
 * -1. */
int transfer_refused(long status, const char *body, size_t n, struct err *e);
/* The URL without its query, fragment, and user, which may be secret. Arena-owned. */
const char *transfer_shown(struct arena *a, const char *url);

#endif
