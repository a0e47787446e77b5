/* SPDX-License-Identifier: MIT
 *
 * All services of the daemon, as the server is given them.
 */
#ifndef API_SERVICES_H
#define API_SERVICES_H

#include "api/aad/aad.h"
#include "api/admin/admin.h"
#include "api/arm/arm.h"
#include "api/azstorage/azstorage.h"
#include "api/batchai/batchai.h"

#define API_SERVICES 5

extern const struct service *const api_services[API_SERVICES];

/* What the handlers of each work with; borrows all that is in it. Must outlive the server. */
struct api_deps {
    struct batchai batchai; /* and in it what arm's own handlers work with */
    struct azstorage azstorage;
    struct admin admin;
    struct aad aad;
};

/* Each service with its own part of `deps`. */
void api_serve_all(const struct api_deps *deps, struct served out[API_SERVICES]);

#endif
