/* SPDX-License-Identifier: MIT
 *
 * Microsoft.KeyVault: vaults and access policies, a provider behind Azure Resource Manager; and the
 * secrets of each vault, at a host of its own.
 */
#ifndef API_KEYVAULT_KEYVAULT_H
#define API_KEYVAULT_KEYVAULT_H

#include "api/arm/arm.h"

struct keyvault {
    struct arm arm;
    const char *const *suffixes; /* the site's suffixes of vaults' hosts (vault.azure.net) */
    size_t n_suffixes;
};

extern const struct service keyvault_service, secret_service;

#endif
