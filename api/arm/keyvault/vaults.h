/* SPDX-License-Identifier: MIT
 *
 * Shared by the handlers of vaults: lookup, rendering, changing the document.
 */
#ifndef API_ARM_KEYVAULT_VAULTS_H
#define API_ARM_KEYVAULT_VAULTS_H

#include "api/arm/keyvault/keyvault.h"
#include "model/resource.h"

/* For kinds whose rows are vaults. */
#define VAULT_COLUMNS                                                                              \
    {                                                                                              \
        .size = sizeof(struct vault), .id = offsetof(struct vault, id),                            \
        .name = offsetof(struct vault, name), .updated = offsetof(struct vault, updated_us)        \
    }

/* The vault in the path, unless it is soft-deleted or in another group. */
int find_vault(struct request *r, struct vault *v, struct err *e) MUST_CHECK;
const char *vault_id(struct request *r, const struct vault *v);
/* "https://NAME.vault.HOST:PORT/" */
const char *vault_uri(struct request *r, const char *name);
void vault_render(struct request *r, const struct vault *v, struct strbuf *out);
REPLIED vault_show(struct request *r, const struct vault *v);

/* Replaces tags (NULL: none) and properties. ERR_FORBIDDEN: they grant access that the caller may
 * not grant. */
int vault_store(struct request *r, struct vault *v, const json_t *tags, json_t *properties,
                struct err *e) MUST_CHECK;
/* The stored properties; a new reference, never NULL. */
json_t *vault_properties(const struct vault *v);

#endif
