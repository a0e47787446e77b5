/* SPDX-License-Identifier: MIT
 *
 * Microsoft.KeyVault: vaults and access policies, a provider behind Azure Resource Manager; and the
 * secrets of each vault, at a host of its own.
 */
#ifndef API_ARM_KEYVAULT_KEYVAULT_H
#define API_ARM_KEYVAULT_KEYVAULT_H

#include "api/arm/arm.h"

struct vault;

struct keyvault {
    struct arm arm;
    const char *const *suffixes; /* the site's suffixes of vaults' hosts (vault.azure.net) */
    size_t n_suffixes;
};

/* Whether somebody may read the secrets of a vault by a role; for struct batchai_roles, with a
 * struct access as ctx. */
bool keyvault_role_reads(void *ctx, const char *object_id, const struct vault *v);

extern const struct service keyvault_service, secret_service;

#endif
