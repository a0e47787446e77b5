/* SPDX-License-Identifier: MIT
 *
 * The data plane as a service: its rows, versions and headers. The rows of each kind of resource
 * are in its own header.
 */
#include <string.h>
#include <strings.h>

#include "api/http/http.h"
#include "api/plane/batch/applications.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/certificates.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/files.h"
#include "api/plane/batch/images.h"
#include "api/plane/batch/job_nodes.h"
#include "api/plane/batch/jobs.h"
#include "api/plane/batch/nodes.h"
#include "api/plane/batch/pools.h"
#include "api/plane/batch/pools_autoscale.h"
#include "api/plane/batch/schedules.h"
#include "api/plane/batch/statistics.h"
#include "api/plane/batch/tasks.h"

/* A collection of tasks, the largest body, has 1 MB. */
#define BODY_MAX (1024 * 1024)

#define CLIENT_ID_MAX 256 /* longer ones are not echoed */

/* clang-format off */
static const struct route routes[] = {
    BATCH_APPLICATION_ROUTES
    BATCH_AUTO_SCALE_ROUTES
    BATCH_CERTIFICATE_ROUTES
    BATCH_IMAGE_ROUTES
    BATCH_JOB_ROUTES
    BATCH_JOB_NODE_ROUTES
    BATCH_NODE_ROUTES
    BATCH_POOL_ROUTES
    BATCH_SCHEDULE_ROUTES
    BATCH_STATISTICS_ROUTES
    BATCH_TASK_ROUTES
    BATCH_FILE_ROUTES
};
/* clang-format on */

/* Where no host says that a request is for Azure Batch. */
static const char *const paths[] = {"/pools",
                                    "/pools/{rest*}",
                                    "/jobs",
                                    "/jobs/{rest*}",
                                    "/jobschedules",
                                    "/jobschedules/{rest*}",
                                    "/applications",
                                    "/applications/{rest*}",
                                    "/certificates",
                                    "/certificates({key})",
                                    "/certificates({key})/canceldelete",
                                    "/nodeagentskus",
                                    "/supportedimages",
                                    "/nodecounts",
                                    "/poolusagemetrics",
                                    "/lifetimepoolstats",
                                    "/lifetimejobstats",
                                    NULL};

static void headers(struct request *r)
{
    const char *id = request_header(r, "client-request-id");
    const char *echo = request_header(r, "return-client-request-id");
    reply_header_text(r, "Server", "Microsoft-HTTPAPI/2.0");
    reply_header_text(r, "request-id", r->request_id);
    reply_header_text(r, "Strict-Transport-Security", "max-age=31536000; includeSubDomains");
    reply_header_text(r, "X-Content-Type-Options", "nosniff");
    reply_header_text(r, "DataServiceVersion", "3.0");
    if (id && strlen(id) <= CLIENT_ID_MAX && echo && strcasecmp(echo, "true") == 0)
        reply_header_text(r, "client-request-id", id);
}

static void challenge(struct request *r)
{
    reply_header(r, "WWW-Authenticate",
                 "Bearer authorization_uri=\"%s/adfs/oauth2/authorize\", "
                 "resource_id=\"https://batch.core.windows.net/\"",
                 api_endpoint(r->api));
}

#define BATCH_SERVICE                                                                              \
    .routes = routes, .n_routes = sizeof routes / sizeof routes[0], .versions = VERSIONS_LISTED,   \
    .version_of = batch_version_from_name, .version_name = batch_version_name, .may = batch_may,   \
    .audiences = AUDIENCE_BATCH | AUDIENCE_ARM, .challenge = challenge, .body_max = BODY_MAX,      \
    .words = batch_words, .error = batch_error, .too_long = batch_too_long, .headers = headers,    \
    .own_headers = true

const struct service batch_service = {.name = "batch", BATCH_SERVICE};
const struct service batch_paths_service = {.name = "batch paths", .paths = paths, BATCH_SERVICE};
