/* SPDX-License-Identifier: MIT
 *
 * The images that pools may ask for, as lists of both forms that versions have.
 */
#ifndef API_PLANE_BATCH_IMAGES_H
#define API_PLANE_BATCH_IMAGES_H

#include "api/plane/batch/batch.h"

struct replied *images_list(struct request *r);
struct replied *images_list_agents(struct request *r);

#define BATCH_IMAGE_ROUTES                                                                         \
    {"GET", "/nodeagentskus",   BATCH_UNTIL(BATCH_8_0),                                            \
     0,     images_list_agents, "Account_ListNodeAgentSkus"},                                      \
        {"GET", "/supportedimages", BATCH_SINCE(BATCH_9_0),                                        \
         0,     images_list,        "Account_ListSupportedImages"},

#endif
