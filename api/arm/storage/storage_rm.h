/* SPDX-License-Identifier: MIT
 *
 * Microsoft.Storage, a provider behind ARM: storage accounts, their shares and containers. Other
 * services serve the contents of shares and containers.
 */
#ifndef API_ARM_STORAGE_STORAGE_RM_H
#define API_ARM_STORAGE_STORAGE_RM_H

#include "api/arm/arm.h"

extern const struct service storage_rm_service;

#endif
