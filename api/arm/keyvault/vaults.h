/* SPDX-License-Identifier: MIT
 *
 * Functions for all handlers of vaults: find a vault, show it, change its document.
 */
#ifndef API_ARM_KEYVAULT_VAULTS_H
#define API_ARM_KEYVAULT_VAULTS_H

#include "api/arm/keyvault/keyvault.h"
#include "model/resource.h"

/* The columns of kinds whose rows are vaults. */
#define VAULT_COLUMNS                                                                              \
    {                                                                                              \
        .size = sizeof(struct vault), .id = offsetof(struct vault, id),                            \
        .name = offsetof(struct vault, name), .updated = offsetof(struct vault, updated_us)        \
    }

/* Finds the vault in the path; fails if it is soft-deleted or in another group. */
int find_vault(struct request *r, struct vault *v, struct err *e) MUST_CHECK;
const char *vault_id(struct request *r, const struct vault *v);
/* "https://NAME.vault.HOST:PORT/" */
const char *vault_uri(struct request *r, const char *name);
void vault_render(struct request *r, const struct vault *v, struct strbuf *out);
REPLIED vault_show(struct request *r, const struct vault *v);

/* Stores new tags (NULL: no tags) and properties. ERR_FORBIDDEN: the properties grant access that
 * the caller may not grant. */
int vault_store(struct request *r, struct vault *v, const json_t *tags, json_t *properties,
                struct err *e) MUST_CHECK;
/* The vault's stored properties; a new reference, never NULL. */
json_t *vault_properties(const struct vault *v);

#endif
