/* SPDX-License-Identifier: MIT */
#ifndef API_ARM_KEYVAULT_HANDLERS_H
#define API_ARM_KEYVAULT_HANDLERS_H

#include "api/arm/keyvault/keyvault.h"
#include "api/arm/kind.h"

/* vaults.c */
extern const struct rm_kind vault_kind;

/* policies.c */
struct replied *vaults_update_policies(struct request *r);

/* deleted.c */
extern const struct rm_kind deleted_vault_kind;
struct replied *deleted_vaults_purge(struct request *r);

#endif
