/* SPDX-License-Identifier: MIT
 *
 * The site's own part of the API, which no Azure document has: the machines, for the people who run
 * them. It has the same port and tokens, and no api-version. docs/admin-api.md describes it for
 * clients, docs/admin-api.json is its OpenAPI document.
 */
#ifndef API_ADMIN_HANDLERS_H
#define API_ADMIN_HANDLERS_H

#include "api/http/request.h"

struct replied *nodes_list(struct request *r);
struct replied *nodes_get(struct request *r);
struct replied *nodes_drain(struct request *r);
struct replied *nodes_undrain(struct request *r);
struct replied *nodes_reboot(struct request *r);
struct replied *users_list(struct request *r);
struct replied *users_add(struct request *r);
struct replied *users_remove(struct request *r);
struct replied *users_reset(struct request *r);
struct replied *site_subscriptions_list(struct request *r);
struct replied *site_subscriptions_add(struct request *r);
struct replied *site_subscriptions_remove(struct request *r);
struct replied *authority_get(struct request *r);
struct replied *counters_get(struct request *r);
struct replied *events_list(struct request *r);
struct replied *queue_list(struct request *r);
struct replied *all_jobs_list(struct request *r);
struct replied *all_tasks_find(struct request *r);
struct replied *all_jobs_explain(struct request *r);
struct replied *deleted_shares_list(struct request *r);
struct replied *deleted_shares_restore(struct request *r);
struct replied *shares_name(struct request *r);

#endif
