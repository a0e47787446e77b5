/* SPDX-License-Identifier: MIT
 *
 * The images of virtual machines that pools may select. No image is installed: a node has the
 * software of its machine. The image only decides whether the command lines of tasks are for Linux
 * or for Windows.
 */
#ifndef MODEL_BATCH_IMAGES_H
#define MODEL_BATCH_IMAGES_H

#include <stdbool.h>
#include <stddef.h>

struct batch_image {
    const char *agent; /* the node agent SKU: "batch.node.ubuntu 22.04" */
    const char *publisher, *offer, *sku;
    bool windows, verified;
    const char *capabilities; /* separated by commas; NULL: none */
    const char *end; /* the instant when Azure Batch ends its support, as a text; NULL: not known */
};

/* Images of one agent are adjacent. */
const struct batch_image *batch_images(size_t *n);
/* The image with these names, without regard to case; NULL: none. */
const struct batch_image *batch_image_find(const char *publisher, const char *offer,
                                           const char *sku);
/* Whether an agent of this name is for Windows. */
bool batch_agent_is_windows(const char *agent);
/* Whether the document of a pool selects an agent for Windows, or a cloud service, whose nodes
 * always run Windows. */
bool batch_pool_is_windows(const char *doc);

#endif
