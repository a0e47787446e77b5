/* SPDX-License-Identifier: MIT
 *
 * The shares and containers that mounts of nodes name. The daemon serves them to local nodes, and
 * to machines if no rule of the site mounts them there.
 */
#ifndef API_ARM_NAMED_SHARES_H
#define API_ARM_NAMED_SHARES_H

#include "api/arm/arm.h"
#include "model/resource.h"
#include "model/spec.h"
#include "storage/shares/shares.h"

struct event;

/* The share of a mount on nodes of this size. False: the volume names none. */
bool named_share_of(struct request *r, const struct mount_volume *m, const char *vm_size,
                    enum vm_priority priority, struct share_name *out);
/* Sets needs_key: the sender may not list the keys of its account, and no mount of the sender has
 * made the account. A request without a principal needs a key. */
int named_share_ask(struct request *r, struct share_name *n, struct err *e) MUST_CHECK;
/* Checks before anything is written whether they may be mounted. Makes the missing ones, in the
 * transaction that mounts them first. */
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
