/* SPDX-License-Identifier: MIT
 *
 * A struct carry frees itself when it calls `done`, which it does once. After carry_halt() it frees
 * itself when the pending call has answered, or at once if only a read is pending.
 */
#include "scheduler/fleet/copy/copy_file.h"

#include <stdlib.h>
#include <string.h>

/* How often an unavailable URL is tried, with pauses that double. */
#define TRIES          4
#define FIRST_PAUSE_US 500000

struct carry {
    struct carry_what what;
    struct node_link *link;
    carry_done done; /* NULL: it was halted */
    void *ctx;
    struct file *file;
    struct transfer *transfer;
    int tries;
    uint64_t at, size; /* size: the size of a file of the daemon; not used for a URL */
    bool reading;
    char *piece;
};

static void end(struct carry *c, const struct err *why)
{
    carry_done done = c->done;
    void *ctx = c->ctx;
    if (c->file)
        file_close(c->file);
    if (c->transfer)
        transfer_end(c->transfer);
    free(c->piece);
    free(c);
    if (done)
        done(ctx, why);
}

static void read_on(struct carry *c);

static void on_sent(void *ctx, const struct err *why)
{
    struct carry *c = ctx;
    free(c->piece);
    c->piece = NULL;
    if (why || !c->done || !(c->file || c->transfer))
        end(c, why);
    else
        read_on(c);
}

/* Sends a piece to the node; takes over `bytes`. */
static void send(struct carry *c, char *bytes, size_t n, bool last)
{
    const struct request_write_bytes piece = {.path = c->what.path,
                                              .bytes = bytes,
                                              .n_bytes = n,
                                              .offset = (int64_t)c->at,
                                              .last = last,
                                              .mode = c->what.mode,
                                              .as = c->what.as};
    c->piece = bytes;
    c->at += n;
    if (last && c->file) {
        file_close(c->file);
        c->file = NULL;
    }
    if (last && c->transfer) {
        transfer_end(c->transfer);
        c->transfer = NULL;
    }
    node_ask(c->link, REQUEST_OF(write_bytes, piece), on_sent, c);
}

/* --- files of the daemon's -------------------------------------------------------------------- */

static void on_read(void *ctx, const struct err *why, char *bytes, size_t n)
{
    struct carry *c = ctx;
    struct err e;
    c->reading = false;
    if (!why && n > 0) {
        send(c, bytes, n, c->at + n >= c->size);
        return;
    }
    free(bytes);
    if (!why)
        err_set(&e, ERR_IO, NULL, "%s has become shorter meanwhile", c->what.from.path);
    end(c, why ? why : &e);
}

static bool is_archived(const struct carry *c, const struct file_facts *f)
{
    const struct archived_blob *b = c->what.archived;
    return b && b->inode == f->inode && b->size == f->size && b->mtime_ns == f->mtime_ns;
}

static void on_opened(void *ctx, const struct err *why, struct file *file, struct file_start *start)
{
    struct carry *c = ctx;
    struct err e;
    if (why) {
        end(c, why);
        return;
    }
    c->file = file;
    c->size = start->range.len;
    if (!c->done) {
        end(c, NULL);
        return;
    }
    if (is_archived(c, &start->facts)) {
        err_set(&e, ERR_IO, NULL,
                "it is an archived blob, which must be rehydrated first (Set Blob Tier)");
        end(c, &e);
        return;
    }
    char *bytes = start->bytes;
    start->bytes = NULL;
    send(c, bytes, start->n, start->n >= c->size);
}

static struct file_range whole(const char *text, uint64_t size)
{
    (void)text;
    return (struct file_range){.len = size};
}

/* --- contents of URLs ------------------------------------------------------------------------- */

static void begin_transfer(struct carry *c);

/* Tries the transfer once more. False: bytes were sent already, or all tries were used. */
static bool tries_again(struct carry *c)
{
    if (c->at > 0 || c->tries == TRIES)
        return false;
    transfer_end(c->transfer);
    begin_transfer(c);
    return true;
}

static void on_got(void *ctx, const struct err *why, struct transfer_got *got)
{
    struct carry *c = ctx;
    struct err e;
    if (why ? why->code != ERR_UNAVAILABLE && tries_again(c)
            : transfer_may_pass(got->status) && tries_again(c))
        return;
    if (why) {
        end(c, why);
    } else if (!transfer_is_good(got->status)) {
        transfer_refused(got->status, got->bytes, got->n, &e);
        end(c, &e);
    } else if (c->at + got->n > (uint64_t)CARRY_MAX) {
        err_set(&e, ERR_BODY_TOO_LARGE, NULL, "it is larger than %lld bytes", (long long)CARRY_MAX);
        end(c, &e);
    } else {
        char *bytes = got->bytes;
        got->bytes = NULL;
        send(c, bytes, got->n, got->end);
    }
}

static void begin_transfer(struct carry *c)
{
    const struct transfer_ask ask = {
        .url = c->what.url,
        .delay_us = c->tries == 0 ? 0 : (int64_t)FIRST_PAUSE_US << (c->tries - 1)};
    c->tries++;
    c->transfer = transfer_begin(c->what.transfers, &ask);
    transfer_read(c->transfer, NODE_PIECE_MAX, on_got, c);
}

/* ---------------------------------------------------------------------------------------------- */

static void read_on(struct carry *c)
{
    if (c->transfer) {
        transfer_read(c->transfer, NODE_PIECE_MAX, on_got, c);
        return;
    }
    uint64_t left = c->size - c->at;
    size_t most = files_piece(c->what.files);
    c->reading = true;
    file_read(c->file, c->at, left < most ? (size_t)left : most, on_read, c);
}

struct carry *carry_begin(struct node_link *link, const struct carry_what *what, carry_done done,
                          void *ctx)
{
    struct carry *c = xcalloc(1, sizeof *c);
    *c = (struct carry){.what = *what, .link = link, .done = done, .ctx = ctx};
    if (what->url) {
        begin_transfer(c);
    } else {
        const struct files_open open = {.at = what->from, .choose = whole};
        files_open(what->files, &open, on_opened, c);
    }
    return c;
}

/* A pending read is cancelled and does not call back. A pending request to the node and the opening
 * of a file do call back, and then end() frees the work. */
void carry_halt(struct carry *c)
{
    c->done = NULL;
    if (c->reading || (c->transfer && !c->piece))
        end(c, NULL);
}
