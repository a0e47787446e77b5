/* SPDX-License-Identifier: MIT
 *
 * Actions on jobs and tasks at batchaid's own paths, for users of a browser. The user's login
 * replaces the account's key, and the path contains the account. The handlers of the actions are
 * those of the data plane; files are listed like files of jobs of Batch AI. Each action needs the
 * same role at the account as on the data plane.
 */
#include "api/arm/errors.h"
#include "api/http/auth.h"
#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/files.h"
#include "api/plane/batch/routes.h"

#define JOB  "/batchaid/batch/{account}/jobs/{jobId}"
#define TASK JOB "/tasks/{taskId}"

ERROR_TABLE(batch_actions_words, ARM_ERRORS, BATCH_OWN)

static const struct route routes[] = {
    {"POST", JOB "/terminate", 0, ROUTE_JSON_OPTIONAL, batch_jobs_terminate, "BatchJobs_Terminate"},
    {"POST", JOB "/disable", 0, ROUTE_JSON, batch_jobs_disable, "BatchJobs_Disable"},
    {"POST", JOB "/enable", 0, 0, batch_jobs_enable, "BatchJobs_Enable"},
    {"DELETE", JOB, 0, 0, batch_jobs_delete, "BatchJobs_Delete"},
    {"POST", TASK "/terminate", 0, 0, batch_tasks_terminate, "BatchTasks_Terminate"},
    {"POST", TASK "/reactivate", 0, 0, batch_tasks_reactivate, "BatchTasks_Reactivate"},
    {"DELETE", TASK, 0, 0, batch_tasks_delete, "BatchTasks_Delete"},
    {"GET", TASK "/files", 0, 0, task_files_list, "BatchTaskFiles_List"},
    {"GET", TASK "/files/content", 0, ROUTE_USERS_BYTES, task_files_get, "BatchTaskFiles_Get"},
    {"HEAD", TASK "/files/content", 0, ROUTE_USERS_BYTES, task_files_get, "BatchTaskFiles_Head"},
};

static const char *const paths[] = {JOB, JOB "/{rest*}", NULL};

static int may(struct request *r, struct err *e)
{
    return auth_check(r, e) < 0 ? -1 : batch_may_in(r, request_param(r, "account"), e);
}

static struct replied *show_error(struct request *r, struct error_words words, const struct err *e)
{
    return reply_json(r, words.status, error_body(words, e));
}

const struct service batch_actions_service = {
    .name = "batch actions",
    .deps = "batch",
    .deps_begin_with_arm = true,
    .paths = paths,
    .routes = routes,
    .n_routes = sizeof routes / sizeof routes[0],
    .versions = VERSIONS_NONE,
    .may = may,
    .audiences = AUDIENCE_ARM,
    .sessions = true,
    .body_max = REQUEST_BODY_MAX,
    .words = batch_actions_words,
    .error = show_error,
};
