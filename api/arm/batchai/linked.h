/* SPDX-License-Identifier: MIT
 *
 * Other resources that a body refers to: whether the caller may use them.
 */
#ifndef API_ARM_BATCHAI_LINKED_H
#define API_ARM_BATCHAI_LINKED_H

#include <jansson.h>

#include "api/arm/batchai/batchai.h"
#include "model/spec.h"

/* The caller needs the right to read mounted file servers. Mounts that run as the nodes'
 * administrator (commands, and dangerous options) need that right at the cluster with this id. Each
 * fails with ARM_LINKED_FORBIDDEN. */
int check_linked_mounts(struct request *r, const struct mount_list *mounts, const char *cluster_id,
                        struct err *e) MUST_CHECK;
/* The caller needs the right to be the nodes' administrator for a container, if the site permits
 * its processes to be the machine's users (containers.user: image). Fails with
 * ARM_LINKED_FORBIDDEN. */
int check_linked_container(struct request *r, const char *cluster_id, struct err *e) MUST_CHECK;
/* The caller needs the right to join the subnet in a document, if it has one. */
int check_linked_subnet(struct request *r, const json_t *doc, struct err *e) MUST_CHECK;

#endif
