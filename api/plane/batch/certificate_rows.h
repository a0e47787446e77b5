/* SPDX-License-Identifier: MIT
 *
 * Certificates, for both planes of Azure Batch.
 */
#ifndef API_PLANE_BATCH_CERTIFICATE_ROWS_H
#define API_PLANE_BATCH_CERTIFICATE_ROWS_H

#include "api/plane/batch/list.h"
#include "api/plane/batch/pool_docs.h"
#include "storage/batch_schedules.h"

/* The function batch_rows.fetch of lists of certificates. */
int certificates_fetch(const struct batch_list *l, const struct batch_slice *of, void **rows,
                       size_t *n, struct err *e) MUST_CHECK;
/* Adds the certificate of an accepted body (schema_batch_certificate). 1: the account already has
 * it; nothing is changed. ERR_INVALID_PROPERTY: the data are no certificate, or have another
 * thumbprint. */
int certificate_take(struct storage *st, struct arena *a, int64_t account_id,
                     const struct accepted *b, int64_t now_us, struct batch_certificate *out,
                     struct err *e) MUST_CHECK;
/* Deletes a certificate that no pool uses. 1: pools use it, so it is kept, and its row gets the
 * error. */
int certificate_remove(struct storage *st, struct arena *a, const struct batch_certificate *c,
                       int64_t now_us, struct err *e) MUST_CHECK;

#endif
