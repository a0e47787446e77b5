/* SPDX-License-Identifier: MIT
 *
 * The shares and containers that an accepted pool mounts. The sender must show the right to each.
 */
#ifndef API_PLANE_BATCH_POOL_MOUNTS_H
#define API_PLANE_BATCH_POOL_MOUNTS_H

#include "api/http/accept.h"
#include "api/plane/batch/batch.h"

/* The sender of the request, in either plane. */
struct pool_asker {
    const struct batch_account *account;
    const struct azstorage *store;
    bool is_trusted; /* needs no key */
};

/* Checks each mount of the pool at `at` of the document ("": the document itself), then makes the
 * shares and containers that are missing: call it last before the pool or its job is written.
 * `vm_size` NULL: the document has it. A share or container of a storage account of this daemon
 * needs the right to list the account's keys, or one of its keys, or for a container a SAS with the
 * permissions r, w, d and l. The account's auto-storage account needs none of these.
 * ERR_INVALID_PROPERTY, ERR_FORBIDDEN: the message names the mount. */
int pool_mounts_take(struct request *r, const struct pool_asker *who, const struct accepted *b,
                     const char *at, const char *vm_size, struct err *e) MUST_CHECK;
/* Like pool_mounts_take(), for a request of the data plane. */
int batch_take_mounts(struct request *r, const struct accepted *b, const char *at,
                      const char *vm_size, struct err *e) MUST_CHECK;

#endif
