/* SPDX-License-Identifier: MIT
 *
 * A node's facts as text for the database, and back.
 */
#ifndef NODEAGENT_PROTO_WIRE_FACTS_H
#define NODEAGENT_PROTO_WIRE_FACTS_H

#include "lib/arena.h"
#include "lib/err.h"
#include "nodeagent-proto/wire/task.h"

/* The caller frees the text. */
char *node_facts_text(const struct node_facts *f);
/* Into the arena. */
int node_facts_parse(struct arena *a, const char *text, struct node_facts *out,
                     struct err *e) MUST_CHECK;

/* A list of fake GPUs in the format of a node's list, in the arena. And whether such a list is
 * fake. */
const char *node_fake_gpus(struct arena *a, int n);
bool node_gpus_are_fake(const char *gpus);
/* Whether the first GPU of the list is AMD's. */
bool node_gpus_are_amd(const char *gpus);
/* The files below /dev that belong to GPUs of the list alone, "nvidia1 dri/renderD128", in the
 * arena. `numbers`: of these GPUs ("0,2"); NULL: of all. */
const char *node_gpu_devices(struct arena *a, const char *gpus, const char *numbers);

#endif
