/* SPDX-License-Identifier: MIT
 *
 * The part of the cloud around Batch AI that its clients need: Azure Resource Manager's own
 * resources.
 */
#ifndef API_ARM_HANDLERS_H
#define API_ARM_HANDLERS_H

#include "api/arm/arm.h"

struct replied *metadata_endpoints(struct request *r);
struct replied *tenants_list(struct request *r);
struct replied *subscriptions_list(struct request *r);
struct replied *subscriptions_get(struct request *r);
struct replied *locations_list(struct request *r);
struct replied *providers_list(struct request *r);
struct replied *providers_get(struct request *r);
struct replied *providers_register(struct request *r);

struct replied *groups_list(struct request *r);
struct replied *groups_create(struct request *r);
struct replied *groups_update(struct request *r);
struct replied *groups_get(struct request *r);
struct replied *groups_exists(struct request *r);
struct replied *groups_delete(struct request *r);
struct replied *resources_list(struct request *r);
struct replied *resources_list_by_group(struct request *r);
struct replied *arm_operation_results(struct request *r);

#endif
