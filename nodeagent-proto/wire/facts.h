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
/* Reads such a text; the texts of *out are in the arena. */
int node_facts_parse(struct arena *a, const char *text, struct node_facts *out,
                     struct err *e) MUST_CHECK;

/* A list of fake GPUs in the format of a node's list, in the arena. node_gpus_are_fake() returns
 * whether a list is such a list. */
const char *node_fake_gpus(struct arena *a, int n);
bool node_gpus_are_fake(const char *gpus);
/* Whether the first GPU of the list is AMD's. */
bool node_gpus_are_amd(const char *gpus);
/* The device files below /dev that each belong to one GPU of the list: "nvidia1 dri/renderD128", in
 * the arena. `numbers`: only for these GPUs ("0,2"); NULL: for all GPUs. */
const char *node_gpu_devices(struct arena *a, const char *gpus, const char *numbers);

#endif
