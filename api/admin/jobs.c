/* SPDX-License-Identifier: MIT
 *
 * The jobs of all groups, the newest first, the history of one job, and tasks of Azure Batch by
 * their names. `batchaid jobs` and `batchaid explain` are the clients.
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
#include "api/http/slices.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/enums.h"
#include "storage/batch.h"
#include "storage/batch_jobs.h"
#include "storage/overview.h"

#define JOBS_DEFAULT 100
#define JOBS_MAX     1000
/* The most jobs that one request reads, whether they match the filters or not: some 100 ms, in
 * slices. */
#define LOOKED_MAX 10000
#define JOBS_BATCH 200 /* rows that are read at once */

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
    return is(r, "subscription", j->scope.subscription) && is(r, "name", j->name) &&
           begins(r, j->name) && is(r, "resourceGroup", j->scope.group) &&
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

/* --- the list --------------------------------------------------------------------------------- */

struct job_list {
    struct request *r;
    struct page *page;
    uint64_t wanted;
    int64_t since_us, at; /* at: the id of the last row that was checked */
    int64_t next;         /* the next page begins after this id; 0: page not full */
    long max, matching, looked;
    enum exec_state state; /* 0: all */
    const char *maker;     /* NULL: all */
    bool oldest_first, counts, is_first;
    bool over;    /* all further jobs are older than since_us */
    bool skipped; /* further rows were not checked */
};

static void begin(struct page *p)
{
    strbuf_puts(&p->text, "{\"value\":[");
}

/* The first page also contains the number of matching jobs, if all were counted or the caller asked
 * for it. */
static void end(struct page *p)
{
    const struct job_list *l = p->of;
    bool cut = (p->more || l->skipped) && !l->over;
    strbuf_puts(&p->text, "]");
    if (cut || l->matching > p->n)
        strbuf_printf(&p->text, ",\"next\":%lld", (long long)(l->next ? l->next : l->at));
    if (l->is_first && (l->counts || !cut))
        strbuf_printf(&p->text, ",\"count\":%ld%s", l->matching,
                      cut ? ",\"countIsMinimum\":true" : "");
    strbuf_puts(&p->text, "}");
}

/* Whether to stop reading: all further jobs are too old, LOOKED_MAX jobs were checked, or the page
 * is full and the caller does not want the number of further jobs. */
static bool is_enough(struct slices *s)
{
    const struct job_list *l = s->of;
    return l->over || l->looked >= LOOKED_MAX || (l->next && !l->counts);
}

/* Reads by the database index that fits the filters best; passes() checks the other filters. */
static int read_batch(const struct job_list *l, struct job_rows *out, struct err *e)
{
    struct storage *st = admin_of(l->r)->storage;
    struct arena *a = &l->r->arena;
    const struct st_page page = {.after = l->at, .limit = JOBS_BATCH};
    if (l->maker)
        return (l->oldest_first ? st_job_oldest_of : st_job_latest_of)(st, a, l->maker, &page, out,
                                                                       e);
    if (l->state)
        return (l->oldest_first ? st_job_oldest_in : st_job_latest_in)(st, a, l->state, &page, out,
                                                                       e);
    return (l->oldest_first ? st_job_oldest : st_job_latest)(st, a, &page, out, e);
}

static int fetch(struct slices *s, struct err *e)
{
    const struct job_list *l = s->of;
    struct job_rows rows;
    int rc = read_batch(l, &rows, e);
    s->rows = rows.items;
    s->n = rc < 0 ? 0 : rows.n;
    s->at_end = s->n < JOBS_BATCH;
    return rc;
}

static int add(struct slices *s, const void *row, struct err *e)
{
    struct job_list *l = s->of;
    const struct job *j = row;
    (void)e;
    if (is_enough(s)) {
        l->skipped = !l->over;
        return 0;
    }
    l->over = !l->oldest_first && j->created_us < l->since_us;
    if (l->over)
        return 0;
    l->looked++;
    if (!passes(l->r, j, l->since_us)) {
        l->at = j->id;
        return 0;
    }
    struct strbuf *out = l->next || l->page->n == l->max ? NULL : page_row_of_id(l->page, j->id);
    if (out) {
        json_auto_t *shown = members_show(l->r, seen_job_members, l->wanted, j);
        jsontext_add(out, shown);
    } else if (!l->next) {
        l->next = l->at;
        l->page->more = false; /* later jobs are only counted */
    }
    l->matching++;
    l->at = j->id;
    return 0;
}

static int read_order(struct request *r, struct job_list *l, struct err *e)
{
    const char *sort = query_filled(r, "sort");
    l->oldest_first = sort && strcasecmp(sort, "createdTime") == 0;
    if (!sort || l->oldest_first || strcasecmp(sort, "-createdTime") == 0)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "sort",
                   "'%.100s' is not a valid order of jobs; use createdTime, or -createdTime for "
                   "the newest first",
                   sort);
}

static int read_list(struct request *r, struct job_list *l, struct err *e)
{
    static const char *const yes_or_no[] = {"true", "false", NULL};
    const char *count = request_query(r, "count"), *state = request_query(r, "state"),
               *mine = request_query(r, "mine");
    long before;
    if (read_order(r, l, e) < 0 || check_filters(r, &l->since_us, e) < 0 ||
        request_query_int(r, "max", (struct query_bounds){1, JOBS_MAX, JOBS_DEFAULT}, &l->max, e) <
            0 ||
        request_query_int(r, "before",
                          (struct query_bounds){1, LONG_MAX, l->oldest_first ? 0 : LONG_MAX},
                          &before, e) < 0 ||
        words_check(r, "count", "value of count", count, yes_or_no, e) < 0 ||
        members_wanted(r, seen_job_members, "a job", &l->wanted, e) < 0)
        return -1;
    l->counts = count && strcasecmp(count, "true") == 0;
    l->state = state ? (enum exec_state)enum_from_name(exec_state_names, state) : 0;
    l->maker = mine && strcasecmp(mine, "true") == 0 ? r->who->object_id : NULL;
    l->is_first = !request_query(r, "before");
    l->at = before;
    return 0;
}

struct replied *all_jobs_list(struct request *r)
{
    static const struct page_form form = {JSON_CONTENT_TYPE, begin, ",", end};
    static const struct slices_kind kind = {fetch, add, is_enough};
    struct err e;
    struct job_list *l = arena_alloc(&r->arena, sizeof *l);
    *l = (struct job_list){.r = r};
    if (read_list(r, l, &e) < 0)
        return reply_err(r, &e);
    l->page = page_begin(r, &form, l->max, "");
    l->page->of = l;
    return slices_reply(l->page, &kind, l, sizeof(struct job));
}

/* The path names a job, GROUP/WORKSPACE/EXPERIMENT/JOB, or a task, GROUP/ACCOUNT/JOB/TASK. */
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

/* --- tasks by their names --------------------------------------------------------------------- */

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
static int add_task(struct request *r, const struct batch_account *b, json_t *list, struct err *e)
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
        if (is_meant(r, &rows[i]) && add_task(r, &rows[i], list, &e) < 0)
            return reply_err(r, &e);
    return reply_json(r, 200, json_pack("{s:O}", "value", list));
}
