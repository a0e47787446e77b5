/* SPDX-License-Identifier: MIT
 *
 * The routes of files for browsers, and their struct service.
 */
#include "api/arm/errors.h"
#include "api/browse/browse.h"
#include "api/browse/routes.h"
#include "api/http/auth.h"
#include "api/plane/storage/errors.h"

#define JOB "/batchaid/jobs/{group}/{workspace}/{experiment}/{job}"

ERROR_TABLE(browse_words, ARM_ERRORS, AZSTORAGE_OWN)

static const struct route routes[] = {
    {"GET", JOB "/files", 0, 0, job_files, "JobFiles_List"},
    {"GET", JOB "/files/content", 0, ROUTE_USERS_BYTES, job_content, "JobFiles_Get"},
    {"HEAD", JOB "/files/content", 0, ROUTE_USERS_BYTES, job_content, "JobFiles_Head"},
    {"GET", "/batchaid/storage/accounts", 0, 0, accounts_list, "StorageAccounts_Browse"},
    {"GET", "/batchaid/storage/items", 0, 0, items_list, "StorageItems_List"},
    {"GET", "/batchaid/storage/content", 0, ROUTE_USERS_BYTES, items_content, "StorageItems_Get"},
    {"HEAD", "/batchaid/storage/content", 0, ROUTE_USERS_BYTES, items_content, "StorageItems_Head"},
};

static const char *const paths[] = {JOB "/files",
                                    JOB "/files/content",
                                    "/batchaid/storage/accounts",
                                    "/batchaid/storage/items",
                                    "/batchaid/storage/content",
                                    NULL};

/* Lets every principal with a role send the request; the handlers check the rights for each job and
 * each share. */
static int may(struct request *r, struct err *e)
{
    return auth_check(r, e) < 0 ? -1 : sees_may(r, azstorage_of(r)->access, e);
}

/* Replies with an error as JSON; a reply with 304 has no body. */
static struct replied *show_error(struct request *r, struct error_words words, const struct err *e)
{
    return words.status == 304 ? reply_empty(r, 304)
                               : reply_json(r, words.status, error_body(words, e));
}

const struct service browse_service = {
    .name = "browse",
    .deps = "azstorage",
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .may = may,
    .audiences = AUDIENCE_ARM,
    .sessions = true,
    .body_max = REQUEST_BODY_MAX,
    .words = browse_words,
    .error = show_error,
};
