/* SPDX-License-Identifier: MIT
 *
 * Microsoft.KeyVault, a provider behind Azure Resource Manager: vaults and access policies. Also
 * the service for the secrets of each vault, at the vault's own host name.
 */
#ifndef API_ARM_KEYVAULT_KEYVAULT_H
#define API_ARM_KEYVAULT_KEYVAULT_H

#include <assert.h>

#include "api/arm/arm.h"
#include "api/http/service.h"

struct vault;

struct keyvault {
    struct arm arm;
    const char *const *suffixes; /* the site's domains of vaults (vault.azure.net) */
    size_t n_suffixes;
};

/* Whether a role gives a principal the right to read a secret of a vault. A function of struct
 * batchai_roles; ctx is a struct access. */
bool keyvault_role_reads(void *ctx, const char *object_id, const struct vault *v,
                         const char *secret);

extern const struct service keyvault_service, secret_service;

static inline const struct keyvault *keyvault_of(const struct request *r)
{
    assert(service_deps_are(r->service, "keyvault"));
    return r->deps;
}

#endif
