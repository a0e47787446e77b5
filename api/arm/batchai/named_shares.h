/* SPDX-License-Identifier: MIT
 *
 * The shares and containers in mounts of clusters and jobs: on local nodes they are the daemon's
 * own.
 */
#ifndef API_ARM_BATCHAI_NAMED_SHARES_H
#define API_ARM_BATCHAI_NAMED_SHARES_H

#include "api/arm/batchai/batchai.h"
#include "model/spec.h"

/* Whether they may be mounted, before anything is written; and makes the missing ones, in the
 * transaction of their first mount. Does nothing for machines, whose mounts come from elsewhere. */
int check_named_shares(struct request *r, const struct cluster *c, const struct mount_list *mounts,
                       struct err *e) MUST_CHECK;
/* *made: a text about new shares; NULL: none. */
int make_named_shares(struct request *r, const struct cluster *c, const struct mount_list *mounts,
                      const char **made, struct err *e) MUST_CHECK;
/* Writes to the log and to the events of the resource that shares were made because it mounts them.
 * `noun` and `name` are the resource's; `ev` has its kind, id and state. `made` may be NULL. */
int tell_made(struct request *r, const char *made, const char *noun, const char *name,
              const struct event *ev, struct err *e) MUST_CHECK;

#endif
