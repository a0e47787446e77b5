/* SPDX-License-Identifier: MIT
 *
 * The shares and containers that the mounts of nodes name. The daemon serves them to local nodes,
 * and to machines unless a rule of the site mounts other storage there.
 */
#ifndef API_ARM_NAMED_SHARES_H
#define API_ARM_NAMED_SHARES_H

#include "api/arm/arm.h"
#include "model/resource.h"
#include "model/spec.h"
#include "storage/shares/shares.h"

struct event;

/* *out becomes the share that a mount names, for nodes of this size. False: the volume names no
 * share. */
bool named_share_of(struct request *r, const struct mount_volume *m, const char *vm_size,
                    enum vm_priority priority, struct share_name *out);
/* Sets n->needs_key if the share's account exists. It is true if the sender may not list the keys
 * of the account, unless a mount of the sender created the account. Without a principal it is true,
 * too. */
int named_share_ask(struct request *r, struct share_name *n, struct err *e) MUST_CHECK;
/* Before anything is written, checks whether the named shares may be mounted. */
int check_named_shares(struct request *r, const struct cluster *c, const struct mount_list *mounts,
                       struct err *e) MUST_CHECK;
/* Creates the missing shares in the transaction of the resource that mounts them first. *made: a
 * text about the new shares; NULL: none. */
int make_named_shares(struct request *r, const struct cluster *c, const struct mount_list *mounts,
                      const char **made, struct err *e) MUST_CHECK;
/* Logs, and adds an event to the resource, that shares were created because the resource mounts
 * them. `noun` and `name` are the resource's; `ev` has its kind, id and state. `made` NULL: does
 * nothing. */
int tell_made(struct request *r, const char *made, const char *noun, const char *name,
              const struct event *ev, struct err *e) MUST_CHECK;

#endif
