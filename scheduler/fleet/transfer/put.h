/* SPDX-License-Identifier: MIT
 *
 * Puts a text as a blob, by one request that is tried again if it may pass then.
 */
#ifndef SCHEDULER_FLEET_TRANSFER_PUT_H
#define SCHEDULER_FLEET_TRANSFER_PUT_H

#include "scheduler/fleet/transfer/transfer.h"

struct transfer_put;

/* `why` as of transfer_read(), or of transfer_refused() for an answer that is not good. */
typedef void (*transfer_put_cb)(void *ctx, const struct err *why);
/* `own` as of struct transfer_ask. The URL and the bytes are borrowed until transfer_put_end(),
 * which the caller owes, in the callback or before or after it. */
struct transfer_put *transfer_put_begin(struct transfers *tr, const char *url, bool own,
                                        const char *bytes, size_t n, transfer_put_cb cb, void *ctx);
/* Without an answer yet there will be none. NULL is well. */
void transfer_put_end(struct transfer_put *p);

#endif
