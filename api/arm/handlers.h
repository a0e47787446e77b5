/* SPDX-License-Identifier: MIT
 *
 * The part of the cloud around Batch AI that its clients need: Azure Resource Manager's own
 * resources.
 */
#ifndef API_ARM_HANDLERS_H
#define API_ARM_HANDLERS_H

#include "api/arm/kind.h"

struct replied *metadata_endpoints(struct request *r);
struct replied *tenants_list(struct request *r);
struct replied *subscriptions_list(struct request *r);
struct replied *subscriptions_get(struct request *r);
struct replied *locations_list(struct request *r);
struct replied *providers_list(struct request *r);
struct replied *providers_get(struct request *r);
struct replied *providers_register(struct request *r);

extern const struct rm_kind group_kind;
struct replied *groups_exists(struct request *r);
struct replied *resources_list(struct request *r);
struct replied *resources_list_by_group(struct request *r);
struct replied *arm_operation_results(struct request *r);

#endif
