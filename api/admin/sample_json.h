/* SPDX-License-Identifier: MIT
 *
 * Samples (model/sample/sample.h) as JSON. Unknown values are left out.
 */
#ifndef API_ADMIN_SAMPLE_JSON_H
#define API_ADMIN_SAMPLE_JSON_H

#include <jansson.h>

#include "model/sample/sample.h"

/* A new object with the time and the values of the machine, without GPUs. */
json_t *sample_show(const struct node_sample *g);
/* Adds the values of a sample of a GPU, without the GPU's index. */
void gpu_sample_show(const struct gpu_sample *g, json_t *to);

#endif
