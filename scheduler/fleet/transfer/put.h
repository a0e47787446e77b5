/* SPDX-License-Identifier: MIT
 *
 * Puts a text as a blob, by one request that is tried again after a temporary failure.
 */
#ifndef SCHEDULER_FLEET_TRANSFER_PUT_H
#define SCHEDULER_FLEET_TRANSFER_PUT_H

#include "scheduler/fleet/transfer/transfer.h"

struct transfer_put;

/* `why` as in transfer_read(), or as in transfer_refused() for an answer with an error status. */
typedef void (*transfer_put_cb)(void *ctx, const struct err *why);
/* `own` as in struct transfer_ask. The URL and the bytes are borrowed until transfer_put_end(). The
 * caller must call transfer_put_end() once: before, in or after the callback. */
struct transfer_put *transfer_put_begin(struct transfers *tr, const char *url, bool own,
                                        const char *bytes, size_t n, transfer_put_cb cb, void *ctx);
/* Frees the put; if it has no result yet, the callback is not called any more. NULL is allowed. */
void transfer_put_end(struct transfer_put *p);

#endif
