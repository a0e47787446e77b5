/* SPDX-License-Identifier: MIT
 *
 * All services of the daemon, for the server.
 */
#ifndef API_SERVICES_H
#define API_SERVICES_H

#include "api/admin/admin.h"
#include "api/admin/health.h"
#include "api/arm/arm.h"
#include "api/arm/authorization/authorization.h"
#include "api/arm/batch/batchrm.h"
#include "api/arm/batchai/batchai.h"
#include "api/arm/keyvault/keyvault.h"
#include "api/arm/storage/storage_rm.h"
#include "api/browse/browse.h"
#include "api/graph/graph.h"
#include "api/login/aad.h"
#include "api/metrics/metrics.h"
#include "api/page/page.h"
#include "api/plane/batch/batch.h"
#include "api/plane/blob/azblob.h"
#include "api/plane/file/azfiles.h"
#include "api/plane/storage/azstorage.h"
#include "api/testing/testing.h"

#define API_SERVICES 23

/* A service by its number, which is below API_SERVICES. */
const struct service *api_service(size_t i);

/* Groups of hosts: a service is served at hosts of one group. */
enum api_hosts {
    HOSTS_ANY,
    HOSTS_BLOB,
    HOSTS_FILE,
    HOSTS_VAULT,
    HOSTS_BATCH,
    HOSTS_UNSERVED,
    API_HOSTS
};

/* The data of each service's handlers. Borrows everything in it, and must outlive the server. */
struct api_deps {
    struct batchai batchai; /* contains the data of ARM's own handlers */
    struct batch batch;
    struct azstorage azstorage; /* also used by the data planes */
    struct keyvault keyvault;
    struct arm storage_rm;
    struct batchrm batchrm;
    struct admin admin;
    struct aad aad;
    struct authorization authorization;
    struct graph graph;
    struct testing testing;
    struct daemon_health health;
    struct metrics metrics;
};

/* Fills `out` with each service, its part of `deps` and its part of `hosts`. */
void api_serve_all(const struct api_deps *deps, const char *const *const hosts[API_HOSTS],
                   struct served out[API_SERVICES]);

#endif
