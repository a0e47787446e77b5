/* SPDX-License-Identifier: MIT
 *
 * What both planes of Azure Batch do with certificates.
 */
#ifndef API_PLANE_BATCH_CERTIFICATE_ROWS_H
#define API_PLANE_BATCH_CERTIFICATE_ROWS_H

#include "api/plane/batch/list.h"
#include "api/plane/batch/pool_docs.h"
#include "storage/batch_schedules.h"

/* For lists of certificates: batch_rows.fetch. */
int certificates_fetch(const struct batch_list *l, const struct batch_slice *of, void **rows,
                       size_t *n, struct err *e) MUST_CHECK;
/* Adds the certificate of an accepted body (schema_batch_certificate). 1: the account has it, and
 * it stays as it is. ERR_INVALID_PROPERTY: it is none, or not the one of its thumbprint. */
int certificate_take(struct storage *st, struct arena *a, int64_t account_id,
                     const struct accepted *b, int64_t now_us, struct batch_certificate *out,
                     struct err *e) MUST_CHECK;
/* Deletes it. 1: pools have it, so it stays, and says so. */
int certificate_remove(struct storage *st, struct arena *a, const struct batch_certificate *c,
                       int64_t now_us, struct err *e) MUST_CHECK;

#endif
