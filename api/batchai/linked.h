/* SPDX-License-Identifier: MIT
 *
 * Resources of others that a body names and what it makes will use: whether who asks may use them.
 */
#ifndef API_BATCHAI_LINKED_H
#define API_BATCHAI_LINKED_H

#include <jansson.h>

#include "api/batchai/batchai.h"
#include "model/spec.h"

/* File servers that are mounted must be such as one may read. Each fails with ARM_LINKED_FORBIDDEN.
 */
int check_linked_mounts(struct request *r, const struct mount_list *mounts,
                        struct err *e) MUST_CHECK;
/* The subnet that a document names, if it does, must be one that who asks may join. */
int check_linked_subnet(struct request *r, const json_t *doc, struct err *e) MUST_CHECK;

#endif
