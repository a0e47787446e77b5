/* SPDX-License-Identifier: MIT
 *
 * Microsoft.KeyVault: vaults and access policies, a provider behind Azure Resource Manager.
 */
#ifndef API_KEYVAULT_KEYVAULT_H
#define API_KEYVAULT_KEYVAULT_H

#include "api/arm/arm.h"

struct keyvault {
    struct arm arm;
};

extern const struct service keyvault_service;

#endif
