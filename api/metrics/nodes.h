/* SPDX-License-Identifier: MIT
 *
 * /metrics/nodes: the last sample of each machine and local node, with its GPUs.
 */
#ifndef API_METRICS_NODES_H
#define API_METRICS_NODES_H

#include "api/http/request.h"

void metrics_of_nodes(struct request *r);

#endif
