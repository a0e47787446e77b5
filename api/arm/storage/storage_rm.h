/* SPDX-License-Identifier: MIT
 *
 * Microsoft.Storage, a provider behind ARM: storage accounts, their shares and containers. Other
 * services serve the contents of shares and containers.
 */
#ifndef API_ARM_STORAGE_STORAGE_RM_H
#define API_ARM_STORAGE_STORAGE_RM_H

#include "api/arm/arm.h"

struct shares;

struct storage_rm {
    struct arm arm; /* first */
    struct shares *shares;
};

extern const struct service storage_rm_service;

static inline const struct storage_rm *storage_rm_of(const struct request *r)
{
    return r->deps;
}

#endif
