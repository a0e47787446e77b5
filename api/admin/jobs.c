/* SPDX-License-Identifier: MIT
 *
 * The jobs of all groups, the newest first; and the story of one job. `batchaid jobs` and `batchaid
 * explain` are the clients.
 */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "api/access/access.h"
#include "api/admin/routes.h"
#include "api/admin/seen_jobs.h"
#include "api/admin/story.h"
#include "api/admin/task_story.h"
#include "api/http/request.h"
#include "lib/timefmt.h"
#include "model/enums.h"
#include "storage/overview.h"

#define JOBS_DEFAULT 100
#define JOBS_MAX     1000
/* The most jobs read for one request, whatever matches the filters: some 15 ms. */
#define LOOKED_MAX 2000

static bool is(struct request *r, const char *filter, const char *value)
{
    const char *wanted = request_query(r, filter);
    return !wanted || (value && strcasecmp(wanted, value) == 0);
}

/* Whether the job's name begins with the filter's text. */
static bool begins(struct request *r, const char *name)
{
    const char *wanted = request_query(r, "begins");
    return !wanted || strncasecmp(wanted, name, strlen(wanted)) == 0;
}

static const char *last_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static bool passes(struct request *r, const struct job *j, int64_t since_us)
{
    return is(r, "name", j->name) && begins(r, j->name) && is(r, "resourceGroup", j->scope.group) &&
           is(r, "workspace", j->scope.workspace) && is(r, "experiment", j->scope.experiment) &&
           is(r, "cluster", last_of(j->cluster_ref)) &&
           is(r, "state", enum_to_name(exec_state_names, (int)j->exec_state)) &&
           j->created_us >= since_us && seen_job(r, j) && seen_job_is_by(r, j);
}

static int check_filters(struct request *r, int64_t *since_us, struct err *e)
{
    const char *state = request_query(r, "state"), *since = request_query(r, "since");
    *since_us = 0;
    if (state && enum_from_name(exec_state_names, state) <= 0)
        return err_set(
            e, ERR_INVALID_QUERY, "state",
            "'%.100s' is not a valid state; use queued, running, terminating, succeeded or "
            "failed",
            state);
    if (since && timefmt_parse(since, since_us) < 0)
        return err_set(e, ERR_INVALID_QUERY, "since",
                       "'%.100s' is not a valid time; use one like 2026-11-23T09:00:00Z", since);
    return 0;
}

struct replied *all_jobs_list(struct request *r)
{
    struct job_rows rows;
    struct err e;
    size_t i;
    long max, before;
    int64_t since_us;
    if (request_query_int(r, "max", 1, JOBS_MAX, JOBS_DEFAULT, &max, &e) < 0 ||
        request_query_int(r, "before", 1, LONG_MAX, LONG_MAX, &before, &e) < 0 ||
        check_filters(r, &since_us, &e) < 0 ||
        st_job_latest(admin_of(r)->storage, &r->arena,
                      &(struct st_page){.after = before, .limit = LOOKED_MAX}, &rows, &e) < 0)
        return reply_err(r, &e);
    json_t *list = json_array();
    for (i = 0;
         i < rows.n && json_array_size(list) < (size_t)max && rows.items[i].created_us >= since_us;
         i++)
        if (passes(r, &rows.items[i], since_us))
            json_array_append_new(list, seen_job_render(r, &rows.items[i]));
    bool more = i < rows.n ? rows.items[i].created_us >= since_us : rows.n == LOOKED_MAX;
    json_t *out = json_pack("{s:o}", "value", list);
    if (more && i > 0)
        json_object_set_new(out, "next", json_integer(rows.items[i - 1].id));
    return reply_json(r, 200, out);
}

/* The path's scope: GROUP/WORKSPACE/EXPERIMENT/JOB, or GROUP/ACCOUNT/JOB/TASK. */
struct replied *all_jobs_explain(struct request *r)
{
    struct job j;
    struct err e;
    const struct access *x = admin_of(r)->access;
    const char *of = request_query(r, "subscription");
    const struct scope s = {.subscription = of ? of : x->subscription_id,
                            .group = request_param(r, "group"),
                            .workspace = request_param(r, "workspace"),
                            .experiment = request_param(r, "experiment")};
    const char *name = request_param(r, "job");
    int rc = st_job_find(admin_of(r)->storage, &r->arena, &s, name, &j, &e);
    if (rc < 0)
        return reply_err(r, &e);
    if (rc == 0) {
        json_t *task = NULL;
        rc = task_story(r, s.subscription, &task, &e);
        if (rc != 0)
            return rc < 0 ? reply_err(r, &e) : reply_json(r, 200, task);
    }
    if (rc == 0 || !seen_job(r, &j)) {
        err_set(&e, ERR_JOB_NOT_FOUND, NULL,
                "There is no job or task %.100s in %.100s/%.100s/%.100s.", name, s.group,
                s.workspace, s.experiment);
        return reply_err(r, &e);
    }
    json_t *failed = story_failed_indexes(r, &j, &e);
    json_t *story = failed ? story_of(r, &j, &e) : NULL;
    if (!story)
        return reply_err(r, &e);
    json_t *out = json_pack("{s:o, s:o}", "job", seen_job_render(r, &j), "story", story);
    if (json_array_size(failed) > 0)
        json_object_set(out, "failedIndexes", failed);
    return reply_json(r, 200, out);
}
