/* SPDX-License-Identifier: MIT */
#ifndef API_ARM_BATCH_HANDLERS_H
#define API_ARM_BATCH_HANDLERS_H

#include "api/arm/batch/batchrm.h"
#include "api/arm/kind.h"

/* accounts.c */
extern const struct rm_kind batch_account_kind;
struct replied *batch_accounts_created(struct request *r);
struct replied *batch_accounts_deleted(struct request *r);

/* keys.c */
struct replied *batch_keys_list(struct request *r);
struct replied *batch_keys_regenerate(struct request *r);
struct replied *batch_auto_storage_sync(struct request *r);

/* applications.c */
struct replied *batch_applications_list(struct request *r);
struct replied *batch_applications_create(struct request *r);
struct replied *batch_applications_get(struct request *r);
struct replied *batch_applications_update(struct request *r);
struct replied *batch_applications_delete(struct request *r);

/* packages.c, activate.c */
struct replied *batch_packages_list(struct request *r);
struct replied *batch_packages_create(struct request *r);
struct replied *batch_packages_get(struct request *r);
struct replied *batch_packages_delete(struct request *r);
struct replied *batch_packages_activate(struct request *r);

/* pools.c */
struct replied *batch_pools_list(struct request *r);
struct replied *batch_pools_create(struct request *r);
struct replied *batch_pools_update(struct request *r);
struct replied *batch_pools_get(struct request *r);
struct replied *batch_pools_delete(struct request *r);
struct replied *batch_pools_deleted(struct request *r);
struct replied *batch_pools_disable_auto_scale(struct request *r);
struct replied *batch_pools_stop_resize(struct request *r);

/* certificates.c */
struct replied *batch_certificates_list(struct request *r);
struct replied *batch_certificates_create(struct request *r);
struct replied *batch_certificates_update(struct request *r);
struct replied *batch_certificates_get(struct request *r);
struct replied *batch_certificates_delete(struct request *r);
struct replied *batch_certificates_deleted(struct request *r);
struct replied *batch_certificates_cancel(struct request *r);

/* about.c */
struct replied *batchrm_operations_list(struct request *r);
struct replied *batch_quotas_get(struct request *r);
struct replied *batch_sizes_list(struct request *r);
struct replied *batch_cloud_service_sizes_list(struct request *r);

/* network.c */
struct replied *batch_endpoints_list(struct request *r);
struct replied *batch_detectors_list(struct request *r);
struct replied *batch_detectors_get(struct request *r);
struct replied *batch_private_connections_list(struct request *r);
struct replied *batch_private_connections_get(struct request *r);
struct replied *batch_private_connections_change(struct request *r);
struct replied *batch_private_links_list(struct request *r);
struct replied *batch_private_links_get(struct request *r);

#endif
