/* SPDX-License-Identifier: MIT
 *
 * Pools that a formula scales: what clients ask of that.
 */
#ifndef API_PLANE_BATCH_POOLS_AUTOSCALE_H
#define API_PLANE_BATCH_POOLS_AUTOSCALE_H

#include "api/plane/batch/batch.h"

struct replied *pools_enable_auto_scale(struct request *r);
struct replied *pools_disable_auto_scale(struct request *r);
struct replied *pools_evaluate_auto_scale(struct request *r);

#define AUTO_SCALE_ROUTE(action, flags, handler, operation)                                        \
    {"POST", "/pools/{pool}/" action, BATCH_ALL, flags, handler, operation},
#define BATCH_AUTO_SCALE_ROUTES                                                                    \
    AUTO_SCALE_ROUTE("enableautoscale", ROUTE_JSON, pools_enable_auto_scale,                       \
                     "Pool_EnableAutoScale")                                                       \
    AUTO_SCALE_ROUTE("disableautoscale", 0, pools_disable_auto_scale, "Pool_DisableAutoScale")     \
    AUTO_SCALE_ROUTE("evaluateautoscale", ROUTE_JSON, pools_evaluate_auto_scale,                   \
                     "Pool_EvaluateAutoScale")

#endif
