/* SPDX-License-Identifier: MIT */
#include "scheduler/fleet/transfer/put.h"

#include <stdlib.h>
#include <string.h>

/* How often a failed put is tried, with pauses that double. */
#define TRIES          4
#define FIRST_PAUSE_US 500000
#define ANSWER_MAX     ((size_t)64 * 1024)

struct transfer_put {
    struct transfers *all;
    const char *url, *bytes; /* borrowed */
    size_t n;
    bool own;
    int tries;
    struct transfer *now;
    transfer_put_cb cb;
    void *ctx;
};

static void put(struct transfer_put *p);

static void on_answer(void *ctx, const struct err *why, struct transfer_got *got)
{
    struct transfer_put *p = ctx;
    struct err e;
    bool passes = why ? why->code != ERR_UNAVAILABLE : transfer_may_pass(got->status);
    if (passes && p->tries < TRIES) {
        transfer_end(p->now);
        put(p);
        return;
    }
    if (!why && !transfer_is_good(got->status)) {
        transfer_refused(got->status, got->bytes, got->n, &e);
        why = &e;
    }
    p->cb(p->ctx, why);
}

static void on_written(void *ctx, const struct err *why)
{
    struct transfer_put *p = ctx;
    (void)why; /* transfer_read() reports the failure, too */
    transfer_read(p->now, ANSWER_MAX, on_answer, p);
}

static void put(struct transfer_put *p)
{
    static const char *const headers[] = {"x-ms-blob-type: BlockBlob", "x-ms-version: 2020-04-08",
                                          "Content-Type: text/plain; charset=utf-8"};
    const struct transfer_ask ask = {
        .url = p->url,
        .put = true,
        .own = p->own,
        .length = p->n,
        .headers = headers,
        .n_headers = sizeof headers / sizeof headers[0],
        .delay_us = p->tries == 0 ? 0 : (int64_t)FIRST_PAUSE_US << (p->tries - 1)};
    p->tries++;
    p->now = transfer_begin(p->all, &ask);
    if (p->n == 0) {
        on_written(p, NULL);
        return;
    }
    char *copy = xrealloc(NULL, p->n);
    memcpy(copy, p->bytes, p->n);
    transfer_write(p->now, copy, p->n, on_written, p);
}

struct transfer_put *transfer_put_begin(struct transfers *tr, const char *url, bool own,
                                        const char *bytes, size_t n, transfer_put_cb cb, void *ctx)
{
    struct transfer_put *p = xcalloc(1, sizeof *p);
    *p = (struct transfer_put){
        .all = tr, .url = url, .bytes = bytes, .n = n, .own = own, .cb = cb, .ctx = ctx};
    put(p);
    return p;
}

void transfer_put_end(struct transfer_put *p)
{
    if (!p)
        return;
    transfer_end(p->now);
    free(p);
}
