/* SPDX-License-Identifier: MIT
 *
 * A machine as JSON: NODE of docs/admin-api.md; and samples of machines and GPUs
 * (model/sample/sample.h), without their unknown values.
 */
#ifndef API_ADMIN_NODE_JSON_H
#define API_ADMIN_NODE_JSON_H

#include "api/admin/members.h"
#include "model/sample/sample.h"
#include "scheduler/fleet/fleet.h"

extern const struct member node_members[];
/* The members that a brief list has (fleet.h). */
#define NODE_BRIEF "name,state,local,drained,cluster"

json_t *node_show(struct request *r, const struct machine_view *m);

/* A new object with the time and the values of the machine, without GPUs. */
json_t *sample_show(const struct node_sample *g);
/* Adds the values of a sample of a GPU, without the GPU's index. */
void gpu_sample_show(const struct gpu_sample *g, json_t *to);

#endif
