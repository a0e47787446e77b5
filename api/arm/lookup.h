/* SPDX-License-Identifier: MIT
 *
 * Lookups for the levels above all resources of all providers: the subscription, the resource
 * group, a location, an id. Rows are in the request's arena.
 */
#ifndef API_ARM_LOOKUP_H
#define API_ARM_LOOKUP_H

#include "api/arm/arm.h"
#include "model/resource.h"

/* The id of the subscription in the path, in the database's spelling; the id of the configured
 * subscription if the path has none. Valid as long as the request. */
const char *arm_subscription(struct request *r);
/* Fails unless the subscription in the path ({subscription}) exists. */
int find_subscription(struct request *r, struct err *e) MUST_CHECK;
int find_group(struct request *r, struct resource_group *g, struct err *e) MUST_CHECK;

/* ARM_GROUP_BEING_DELETED if the group is being deleted. */
int check_group_alive(const struct resource_group *g, struct err *e) MUST_CHECK;
/* ERR_BEING_DELETED if `state` is deleting. */
int check_alive(const char *what, const char *name, enum prov_state state,
                struct err *e) MUST_CHECK;

/* A location in the form of URLs: "North Europe" is "northeurope". Arena-owned. */
const char *region_name(struct arena *a, const char *location);
/* Whether two locations name one region, in any spelling that ARM accepts. */
bool same_region(struct arena *a, const char *one, const char *other);

/* "/subscriptions/S/resourceGroups/rg/providers/PROVIDER/workspaces/..."; arena-owned.
 * `collection` is the lower-case last segment ("clusters"). */
const char *resource_id(struct arena *a, const char *provider, const struct scope *s,
                        const char *collection, const char *name);

#endif
