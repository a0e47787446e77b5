/* SPDX-License-Identifier: MIT
 *
 * What the handlers of Batch accounts share: looking one up, showing it, its auto-storage.
 */
#ifndef API_ARM_BATCH_ACCOUNT_H
#define API_ARM_BATCH_ACCOUNT_H

#include "api/arm/batch/batchrm.h"
#include "model/batch/rows.h"

#define BATCH_ACCOUNTS_MAX 1000 /* of a subscription, all locations together */

/* The account that the path names, in the group of the path; not one that is being deleted. */
int find_batch_account(struct request *r, struct batch_account *b, struct err *e) MUST_CHECK;
/* Refuses one that is shown as being created, for all that is done with one. */
int find_made_batch_account(struct request *r, struct batch_account *b, struct err *e) MUST_CHECK;
const char *batch_account_id(struct request *r, const struct batch_account *b);
/* NAME.REGION.batch.HOST:PORT, without a scheme, as the client reached us. */
const char *batch_account_endpoint(struct request *r, const struct batch_account *b);
/* A copy of what is stored of it: {"properties": {...}}; a new reference. */
json_t *batch_account_doc(const struct batch_account *b);
void batch_account_render(struct request *r, const struct batch_account *b, struct strbuf *out);
/* Those of an account that is shown. */
void batch_account_headers(struct request *r, const struct batch_account *b);
REPLIED batch_account_show(struct request *r, int status, const struct batch_account *b);

/* The storage account that an account's document names as its auto-storage;
 * BATCHRM_NO_AUTO_STORAGE, or BATCHRM_NO_STORAGE_ACCOUNT if there is none of this id. */
int find_auto_storage(struct request *r, const json_t *doc, struct storage_account *s,
                      struct err *e) MUST_CHECK;
/* For a document that was accepted: its auto-storage account, if it names one, must be there and
 * such that who asks may have its keys. Notes the instant as that of the last look at its keys. */
int take_auto_storage(struct request *r, json_t *doc, struct err *e) MUST_CHECK;

#endif
