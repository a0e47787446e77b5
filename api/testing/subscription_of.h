/* SPDX-License-Identifier: MIT
 *
 * In which subscription a request is: its path says it, or the account or vault that it is about.
 */
#ifndef API_TESTING_SUBSCRIPTION_OF_H
#define API_TESTING_SUBSCRIPTION_OF_H

#include "api/http/request.h"
#include "storage/storage.h"

/* As the path has it; NULL: it names none. */
const char *whose_named(const struct request *r);
/* The account that a request for data is about, by host or path, or by its key: one of Azure Batch
 * may be named so only. In the arena, or the request's; NULL: none. Not after the reply. */
const char *whose_account(const struct request *r, struct arena *a);
/* That of the account, of what the request's service takes tokens for; NULL: none, or it is gone.
 * In the arena. */
const char *whose_account_is(struct storage *st, struct arena *a, const struct request *r,
                             const char *account);

#endif
