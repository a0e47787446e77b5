/* SPDX-License-Identifier: MIT
 *
 * Certificates, for both planes of Azure Batch.
 */
#ifndef API_PLANE_BATCH_CERTIFICATE_ROWS_H
#define API_PLANE_BATCH_CERTIFICATE_ROWS_H

#include "api/plane/batch/list.h"
#include "api/plane/batch/pool_docs.h"
#include "storage/batch_schedules.h"

/* For lists of certificates: batch_rows.fetch. */
int certificates_fetch(const struct batch_list *l, const struct batch_slice *of, void **rows,
                       size_t *n, struct err *e) MUST_CHECK;
/* Adds the certificate of an accepted body (schema_batch_certificate). 1: the account has it
 * already; changes nothing. ERR_INVALID_PROPERTY: not a certificate, or its thumbprint differs. */
int certificate_take(struct storage *st, struct arena *a, int64_t account_id,
                     const struct accepted *b, int64_t now_us, struct batch_certificate *out,
                     struct err *e) MUST_CHECK;
/* Deletes a certificate. 1: pools use it; keeps it and stores this error in its row. */
int certificate_remove(struct storage *st, struct arena *a, const struct batch_certificate *c,
                       int64_t now_us, struct err *e) MUST_CHECK;

#endif
