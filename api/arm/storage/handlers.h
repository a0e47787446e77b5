/* SPDX-License-Identifier: MIT */
#ifndef API_ARM_STORAGE_HANDLERS_H
#define API_ARM_STORAGE_HANDLERS_H

#include "api/arm/kind.h"
#include "api/arm/storage/storage_rm.h"

/* accounts.c */
extern const struct rm_kind storage_account_kind;
struct replied *accounts_created(struct request *r);

/* keys.c */
struct replied *accounts_list_keys(struct request *r);
struct replied *accounts_regenerate_key(struct request *r);
struct replied *accounts_list_account_sas(struct request *r);
struct replied *accounts_list_service_sas(struct request *r);

/* about.c */
struct replied *storage_operations_list(struct request *r);
struct replied *storage_usages_list(struct request *r);
struct replied *storage_skus_list(struct request *r);

/* services.c */
struct replied *blob_services_list(struct request *r);
struct replied *blob_services_get(struct request *r);
struct replied *blob_services_put(struct request *r);
struct replied *file_services_list(struct request *r);
struct replied *file_services_get(struct request *r);
struct replied *file_services_put(struct request *r);

/* shares.c, share_list.c */
struct replied *shares_put(struct request *r);
struct replied *shares_update(struct request *r);
struct replied *shares_get(struct request *r);
struct replied *shares_remove(struct request *r);
struct replied *shares_list(struct request *r);
struct replied *containers_put(struct request *r);
struct replied *containers_update(struct request *r);
struct replied *containers_get(struct request *r);
struct replied *containers_remove(struct request *r);
struct replied *containers_list(struct request *r);

#endif
