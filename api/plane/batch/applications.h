/* SPDX-License-Identifier: MIT
 *
 * Applications as the data plane lists them: with the packages that nodes can get, and no others.
 */
#ifndef API_PLANE_BATCH_APPLICATIONS_H
#define API_PLANE_BATCH_APPLICATIONS_H

#include "api/plane/batch/batch.h"

struct replied *applications_list(struct request *r);
struct replied *applications_get(struct request *r);

#define BATCH_APPLICATION_ROUTES                                                                   \
    {"GET", "/applications", BATCH_ALL, 0, applications_list, "Application_List"},                 \
        {"GET", "/applications/{application}", BATCH_ALL, 0, applications_get, "Application_Get"},

#endif
