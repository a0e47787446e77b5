/* SPDX-License-Identifier: MIT
 *
 * Resources of others that a body names and what it makes will use: whether who asks may use them.
 */
#ifndef API_ARM_BATCHAI_LINKED_H
#define API_ARM_BATCHAI_LINKED_H

#include <jansson.h>

#include "api/arm/batchai/batchai.h"
#include "model/spec.h"

/* File servers that are mounted must be such as one may read; and what mounts run as the nodes'
 * administrator (commands, and options that could) is for those who may, at the cluster with this
 * id. Each fails with ARM_LINKED_FORBIDDEN. */
int check_linked_mounts(struct request *r, const struct mount_list *mounts, const char *cluster_id,
                        struct err *e) MUST_CHECK;
/* A container of the cluster's nodes, where the site lets its processes be the machine's users
 * (containers.user: image). Fails likewise. */
int check_linked_container(struct request *r, const char *cluster_id, struct err *e) MUST_CHECK;
/* The subnet that a document names, if it does, must be one that who asks may join. */
int check_linked_subnet(struct request *r, const json_t *doc, struct err *e) MUST_CHECK;

#endif
