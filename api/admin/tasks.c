/* SPDX-License-Identifier: MIT
 *
 * Tasks of Azure Batch by their names, for `batchaid explain`.
 */
#include <strings.h>

#include "api/admin/routes.h"
#include "api/admin/seen_jobs.h"
#include "api/http/request.h"
#include "storage/batch.h"
#include "storage/batch_jobs.h"

#define SHOWN_MAX 20

static bool is_meant(struct request *r, const struct batch_account *b)
{
    const char *account = request_query(r, "account"), *group = request_query(r, "resourceGroup"),
               *subscription = request_query(r, "subscription");
    return (!account || strcasecmp(account, b->name) == 0) &&
           (!group || strcasecmp(group, b->scope.group) == 0) &&
           (!subscription || strcasecmp(subscription, b->scope.subscription) == 0) &&
           seen_in_account(r, b, SEEN_BATCH_JOBS);
}

/* Adds the task of account `b`, if it still exists. */
static int add(struct request *r, const struct batch_account *b, json_t *list, struct err *e)
{
    struct storage *st = admin_of(r)->storage;
    struct batch_job job;
    struct batch_task task;
    int rc = st_batch_job_get(st, &r->arena, b->id, request_query(r, "job"), &job, e);
    if (rc == 1)
        rc = st_batch_task_get(st, &r->arena, job.id, request_query(r, "name"), &task, e);
    if (rc == 1)
        json_array_append_new(list, seen_task_render(r, b, &job, &task));
    return rc < 0 ? -1 : 0;
}

struct replied *all_tasks_find(struct request *r)
{
    static const char *const wanted[] = {"job", "name"};
    struct batch_account *rows;
    struct err e;
    size_t n;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!request_query(r, wanted[i])) {
            err_set(&e, ERR_INVALID_QUERY, wanted[i],
                    "%s is missing; tasks are found by ?job=ID&name=TASK-ID", wanted[i]);
            return reply_err(r, &e);
        }
    if (st_batch_account_with_task(admin_of(r)->storage, &r->arena, request_query(r, "job"),
                                   request_query(r, "name"), &rows, &n, &e) < 0)
        return reply_err(r, &e);
    json_t *list = request_own(r, json_array());
    for (size_t i = 0; i < n && json_array_size(list) < SHOWN_MAX; i++)
        if (is_meant(r, &rows[i]) && add(r, &rows[i], list, &e) < 0)
            return reply_err(r, &e);
    return reply_json(r, 200, json_pack("{s:O}", "value", list));
}
