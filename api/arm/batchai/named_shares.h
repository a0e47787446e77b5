/* SPDX-License-Identifier: MIT
 *
 * The shares and containers that mounts of clusters and jobs name: on local nodes they are our own.
 */
#ifndef API_ARM_BATCHAI_NAMED_SHARES_H
#define API_ARM_BATCHAI_NAMED_SHARES_H

#include "api/arm/batchai/batchai.h"
#include "model/spec.h"

/* Whether they may be mounted, before anything is written; and makes those that are not there, in
 * the transaction of what mounts them. Nothing where the nodes are machines: what these mount comes
 * from elsewhere. */
int check_named_shares(struct request *r, const struct cluster *c, const struct mount_list *mounts,
                       struct err *e) MUST_CHECK;
/* *made: what was made, as words; NULL: nothing. */
int make_named_shares(struct request *r, const struct cluster *c, const struct mount_list *mounts,
                      const char **made, struct err *e) MUST_CHECK;
/* Says in the log and in the events of what mounts them that they were made because it names them.
 * `noun` and `name` are the resource's; `ev` has its kind, id and state. `made` may be NULL. */
int tell_made(struct request *r, const char *made, const char *noun, const char *name,
              const struct event *ev, struct err *e) MUST_CHECK;

#endif
