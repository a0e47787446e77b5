/* SPDX-License-Identifier: MIT
 *
 * Checks whether the caller may use the other resources that a body names.
 */
#ifndef API_ARM_BATCHAI_LINKED_H
#define API_ARM_BATCHAI_LINKED_H

#include <jansson.h>

#include "api/arm/batchai/batchai.h"
#include "model/spec.h"

/* Fails with ARM_LINKED_FORBIDDEN unless the caller may read the mounted file servers and, if a
 * mount runs something as the nodes' administrator (a command, or a dangerous option), has the
 * administrator's right at the cluster with this id. */
int check_linked_mounts(struct request *r, const struct mount_list *mounts, const char *cluster_id,
                        struct err *e) MUST_CHECK;
/* For a job with a container: fails with ARM_LINKED_FORBIDDEN if the site lets the container's
 * processes run as any user of the machine (containers.user: image) and the caller lacks the right
 * to be the nodes' administrator. */
int check_linked_container(struct request *r, const char *cluster_id, struct err *e) MUST_CHECK;
/* Fails unless the caller may join the subnet that a document names; succeeds if it names none. */
int check_linked_subnet(struct request *r, const json_t *doc, struct err *e) MUST_CHECK;

#endif
