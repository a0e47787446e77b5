/* SPDX-License-Identifier: MIT
 *
 * Microsoft.Batch in Azure Resource Manager: Batch accounts, their applications and their other
 * resources. The data plane, with pools, jobs and tasks, is another service, at the accounts' own
 * host names.
 */
#ifndef API_ARM_BATCH_BATCHRM_H
#define API_ARM_BATCH_BATCHRM_H

#include <assert.h>

#include "api/arm/arm.h"
#include "api/http/service.h"
#include "api/plane/batch/batch.h"

struct files;
struct packages;

struct batchrm {
    struct arm arm; /* must be the first member */
    struct packages *packages;
    struct files *files;
    struct batch_front *front;
    const struct azstorage *store; /* signs URLs; borrowed */
};

extern const struct service batchrm_service;

static inline const struct batchrm *batchrm_of(const struct request *r)
{
    assert(service_deps_are(r->service, "batchrm"));
    return r->deps;
}

#endif
