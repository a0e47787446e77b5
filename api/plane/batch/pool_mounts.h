/* SPDX-License-Identifier: MIT
 *
 * The shares and containers that an accepted pool mounts. The sender must have the right to use
 * each of them.
 */
#ifndef API_PLANE_BATCH_POOL_MOUNTS_H
#define API_PLANE_BATCH_POOL_MOUNTS_H

#include "api/http/accept.h"
#include "api/plane/batch/batch.h"

/* The sender of the request, in either plane. */
struct pool_asker {
    const struct batch_account *account;
    const struct azstorage *store;
    bool is_trusted; /* the sender needs no key and no role */
};

/* Checks each mount of the pool at path `at` of the document ("": the document itself), then
 * creates the missing shares and containers; so the caller calls it last before it writes the pool
 * or job. `vm_size` NULL: the document has it. For a storage account of this daemon, the sender
 * needs the right to list its keys, or a key in the mount, or for a container a SAS with the
 * permissions r, w, d and l. The account's auto-storage account needs none of these.
 * ERR_INVALID_PROPERTY, ERR_FORBIDDEN: the message names the mount. */
int pool_mounts_take(struct request *r, const struct pool_asker *who, const struct accepted *b,
                     const char *at, const char *vm_size, struct err *e) MUST_CHECK;
/* Like pool_mounts_take(), for a request of the data plane. */
int batch_take_mounts(struct request *r, const struct accepted *b, const char *at,
                      const char *vm_size, struct err *e) MUST_CHECK;

#endif
