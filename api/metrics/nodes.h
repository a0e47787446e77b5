/* SPDX-License-Identifier: MIT
 *
 * /metrics/nodes: each machine and local node with its GPUs, by the last sample.
 */
#ifndef API_METRICS_NODES_H
#define API_METRICS_NODES_H

#include "api/http/request.h"

void metrics_of_nodes(struct request *r);

#endif
