/* SPDX-License-Identifier: MIT
 *
 * A sample (model/sample/sample.h) as JSON and back. A value that is unknown is left out.
 */
#ifndef NODEAGENT_PROTO_WIRE_SAMPLE_H
#define NODEAGENT_PROTO_WIRE_SAMPLE_H

#include <jansson.h>

#include "lib/err.h"
#include "model/sample/sample.h"

/* A sample that was read, with room for its GPUs: s.gpus points to the struct itself. */
struct sample_read {
    struct node_sample s;
    struct gpu_sample gpus[SAMPLE_GPUS];
};

/* A new reference. NULL: a text is not UTF-8. */
json_t *message_sample(const struct node_sample *s);
/* Impossible values become unknown. A value of another kind, or more GPUs than SAMPLE_GPUS, is an
 * error. at_us is 0. */
int message_sample_read(const json_t *from, struct sample_read *to, struct err *e) MUST_CHECK;

#endif
