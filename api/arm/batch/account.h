/* SPDX-License-Identifier: MIT
 *
 * Functions for all handlers of Batch accounts: find an account, show it, find its auto-storage.
 */
#ifndef API_ARM_BATCH_ACCOUNT_H
#define API_ARM_BATCH_ACCOUNT_H

#include "api/arm/batch/batchrm.h"
#include "model/batch/rows.h"

#define BATCH_ACCOUNTS_MAX 1000 /* in a subscription, all locations together */

/* Finds the account in the path, in the group of the path. An account that is being deleted is not
 * found. */
int find_batch_account(struct request *r, struct batch_account *b, struct err *e) MUST_CHECK;
/* Like find_batch_account(), but fails if the account is shown as being created. */
int find_made_batch_account(struct request *r, struct batch_account *b, struct err *e) MUST_CHECK;
const char *batch_account_id(struct request *r, const struct batch_account *b);
/* NAME.REGION.batch.HOST:PORT, without a scheme, with the host of the client's request. */
const char *batch_account_endpoint(struct request *r, const struct batch_account *b);
/* A copy of the account's stored document: {"properties": {...}}. New reference. */
json_t *batch_account_doc(const struct batch_account *b);
void batch_account_render(struct request *r, const struct batch_account *b, struct strbuf *out);
/* Adds the headers of an account's reply. */
void batch_account_headers(struct request *r, const struct batch_account *b);
REPLIED batch_account_show(struct request *r, int status, const struct batch_account *b);

/* Finds the auto-storage account that a Batch account's document names. BATCHRM_NO_AUTO_STORAGE: it
 * names none; BATCHRM_NO_STORAGE_ACCOUNT: the named account does not exist. */
int find_auto_storage(struct request *r, const json_t *doc, struct storage_account *s,
                      struct err *e) MUST_CHECK;
/* Checks the auto-storage account of an accepted document, if it names one: it must exist, and the
 * caller must have the right to its keys. Records the present time as the time at which the keys
 * were last read. */
int take_auto_storage(struct request *r, json_t *doc, struct err *e) MUST_CHECK;

#endif
