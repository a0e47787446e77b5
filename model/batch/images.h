/* SPDX-License-Identifier: MIT
 *
 * The images of virtual machines that pools may select. The software on a node is that of its
 * machine; an image only decides whether commands are in the language of Linux or of Windows.
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
    const char *end;          /* end of Batch's support, an instant; NULL: not known */
};

/* Images of one agent are adjacent. */
const struct batch_image *batch_images(size_t *n);
/* The image with these names, without regard to case; NULL: none. */
const struct batch_image *batch_image_find(const char *publisher, const char *offer,
                                           const char *sku);
/* Whether an agent of this name is for Windows. */
bool batch_agent_is_windows(const char *agent);
/* Whether the document of a pool selects an agent for Windows, or a cloud service: that always has
 * Windows. */
bool batch_pool_is_windows(const char *doc);

#endif
