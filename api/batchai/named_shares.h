/* SPDX-License-Identifier: MIT
 *
 * The shares and containers that mounts of clusters and jobs name: on local nodes they are our own.
 */
#ifndef API_BATCHAI_NAMED_SHARES_H
#define API_BATCHAI_NAMED_SHARES_H

#include "api/batchai/batchai.h"
#include "model/spec.h"

/* Whether they may be mounted, before anything is written; and makes those that are not there, in
 * the transaction of what mounts them. Nothing where the nodes are machines: what these mount comes
 * from elsewhere. */
int check_named_shares(struct request *r, const struct cluster *c, const struct mount_list *mounts,
                       struct err *e) MUST_CHECK;
int make_named_shares(struct request *r, const struct cluster *c, const struct mount_list *mounts,
                      struct err *e) MUST_CHECK;

#endif
