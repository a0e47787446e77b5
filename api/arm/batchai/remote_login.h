/* SPDX-License-Identifier: MIT
 *
 * The answer that lists where people log in to nodes, for clusters and for jobs.
 */
#ifndef API_ARM_BATCHAI_REMOTE_LOGIN_H
#define API_ARM_BATCHAI_REMOTE_LOGIN_H

#include "api/arm/batchai/batchai.h"
#include "model/resource.h"

/* {"value":[{"nodeId","ipAddress","port"}]} for these nodes. */
REPLIED reply_remote_login(struct request *r, const struct node *nodes, size_t n);

#endif
