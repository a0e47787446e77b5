/* SPDX-License-Identifier: MIT */
#ifndef API_KEYVAULT_HANDLERS_H
#define API_KEYVAULT_HANDLERS_H

#include "api/keyvault/keyvault.h"

/* vaults.c */
struct replied *vaults_create(struct request *r);
struct replied *vaults_update(struct request *r);
struct replied *vaults_get(struct request *r);
struct replied *vaults_delete(struct request *r);
struct replied *vaults_list(struct request *r);
struct replied *vaults_list_by_group(struct request *r);
struct replied *vaults_check_name(struct request *r);

/* policies.c */
struct replied *vaults_update_policies(struct request *r);

/* deleted.c */
struct replied *deleted_vaults_list(struct request *r);
struct replied *deleted_vaults_get(struct request *r);
struct replied *deleted_vaults_purge(struct request *r);

#endif
