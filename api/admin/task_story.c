/* SPDX-License-Identifier: MIT
 *
 * The history of a task is composed from its row, which has the times of the last start, retry,
 * requeue and end.
 */
#include "api/admin/task_story.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/admin/seen_jobs.h"
#include "api/admin/waits.h"
#include "model/batch/spec.h"
#include "storage/batch.h"
#include "storage/batch_chores.h"
#include "storage/batch_jobs.h"
#include "storage/runs.h"
#include "storage/storage.h"

#define LINES_MAX 12
#define AWAITED   5 /* the most dependencies to list */

struct story_line {
    int64_t at_us; /* 0: a statement about the present */
    const char *text;
};

struct task_teller {
    struct request *r;
    struct arena *a;
    struct storage *st;
    struct batch_account account;
    struct batch_job job;
    struct batch_task task;
    struct batch_pool pool; /* id 0: the pool does not exist */
    struct seen_use use;
    struct node node; /* its last node; id 0: never ran, or node gone */
    struct story_line lines[LINES_MAX];
    size_t n;
};

static void tell(struct task_teller *t, int64_t at_us, const char *text)
{
    if (t->n < LINES_MAX)
        t->lines[t->n++] = (struct story_line){at_us, text};
}

/* --- its history --- */

/* The message in the details of a failure; without it the message of the failure itself. */
static const char *message_of(const json_t *info)
{
    size_t i;
    const json_t *detail;
    json_array_foreach(json_object_get(info, "details"), i, detail) {
        const char *name = json_string_value(json_object_get(detail, "name")),
                   *value = json_string_value(json_object_get(detail, "value"));
        if (name && value && strcmp(name, "Message") == 0)
            return value;
    }
    const char *message = json_string_value(json_object_get(info, "message"));
    return message ? message : "";
}

static const char *failure_of(const struct task_teller *t, const char *failure)
{
    json_auto_t *info = failure ? json_loads(failure, 0, NULL) : NULL;
    const char *code = json_string_value(json_object_get(info, "code"));
    const char *text = code ? arena_printf(t->a, ": %s: %s", code, message_of(info)) : "";
    return text;
}

/* Adds lines for stderr and remedy in the details of the task's failure. */
static void tell_details(struct task_teller *t)
{
    static const struct {
        const char *name, *shown;
    } told[] = {{"StandardError", "stderr"}, {"Remedy", "remedy"}};
    json_auto_t *info = t->task.failure ? json_loads(t->task.failure, 0, NULL) : NULL;
    json_t *detail;
    size_t i;
    json_array_foreach(json_object_get(info, "details"), i, detail) {
        const char *name = json_string_value(json_object_get(detail, "name")),
                   *value = json_string_value(json_object_get(detail, "value"));
        for (size_t k = 0; name && value && k < sizeof told / sizeof told[0]; k++)
            if (strcmp(name, told[k].name) == 0)
                tell(t, t->task.end_us, seen_detail(t->r, told[k].shown, value));
    }
}

/* Whether the task's output can be read. A completed task that came from a seed (a saved state) has
 * files, but no node. */
static bool has_output(const struct task_teller *t)
{
    const struct batch_task *k = &t->task;
    if (k->files != BATCH_FILES_THERE || !k->node_name)
        return k->files == BATCH_FILES_THERE;
    return t->node.id != 0 && !batch_files_lost(k, &t->node);
}

static void tell_end(struct task_teller *t)
{
    const struct batch_task *k = &t->task;
    const char *code = k->has_exit_code ? arena_printf(t->a, ", exit code %d", k->exit_code) : "";
    bool good = k->result == BATCH_SUCCESS;
    tell_details(t);
    if (!good && has_output(t))
        tell(t, k->end_us,
             arena_printf(t->a, "its output: az batch task file list --job-id %s --task-id %s",
                          t->job.name, k->name));
    tell(t, k->end_us,
         arena_printf(t->a, "%s%s%s", good ? "succeeded" : "failed", code,
                      failure_of(t, k->failure)));
    if (!good && t->job.depends && !k->satisfies)
        tell(t, 0, "tasks that depend on it do not begin");
}

static void tell_past(struct task_teller *t)
{
    const struct batch_task *k = &t->task;
    tell(t, k->created_us,
         arena_printf(t->a, "added to job %s of pool %s: it needs %d slot%s", t->job.name,
                      *t->job.pool_name ? t->job.pool_name : "(none)", k->slots,
                      k->slots == 1 ? "" : "s"));
    if (k->retry_us > 0)
        tell(t, k->retry_us, arena_printf(t->a, "tried again: %d in all", k->retries));
    if (k->requeue_us > 0)
        tell(t, k->requeue_us,
             arena_printf(t->a, "queued again for another node: %d in all", k->requeues));
    if (k->start_us > 0) {
        const char *node = seen_node(t->r, &t->use, t->node.id, k->node_name);
        /* a completed task that came from a seed was on no node */
        tell(t, k->start_us, node && *node ? arena_concat(t->a, "began on ", node) : "began");
    }
    if (k->state == BATCH_TASK_COMPLETED)
        tell_end(t);
}

/* --- why it waits --- */

static const char *awaited(struct task_teller *t, struct err *e)
{
    struct batch_wait *waits;
    const char *text = "it waits for";
    size_t n;
    if (st_batch_wait_of(t->st, t->a, t->task.id, AWAITED, &waits, &n, e) < 0)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const char *comma = i ? "," : "";
        if (waits[i].name)
            text = arena_printf(t->a, "%s%s task %s", text, comma, waits[i].name);
        else
            text = arena_printf(t->a, "%s%s %lld of the tasks %lld to %lld", text, comma,
                                (long long)waits[i].left, (long long)waits[i].low,
                                (long long)waits[i].high);
    }
    int more = t->task.waits - (int)n;
    return more > 0 ? arena_printf(t->a, "%s, and %d more", text, more) : text;
}

/* The task's place among the runs of its pool; NULL: err. */
static const char *place(struct task_teller *t, struct err *e)
{
    struct queue_place q;
    struct run run = {.id = 0};
    if (st_run_of(t->st, t->a, RES_BATCH_TASK, t->task.id, 0, &run, e) < 0 ||
        waits_in_queue(t->r, t->pool.id, run.id, &q, e) < 0)
        return NULL;
    return q.place > 0 ? arena_printf(t->a, "it waits in place %zu for %s", q.place, q.what)
                       : "it waits, behind the first that are looked at";
}

static const char *turn(struct task_teller *t, struct err *e)
{
    int64_t fed;
    if (t->task.fed)
        return place(t, e);
    if (st_batch_task_count_fed(t->st, t->job.id, &fed, e) < 0)
        return NULL;
    if (t->job.max_parallel != BATCH_UNLIMITED && fed >= t->job.max_parallel)
        return arena_printf(t->a, "its job may run %d tasks at once, and already does",
                            t->job.max_parallel);
    return "it waits for its turn: jobs of higher priority and older tasks go first";
}

static bool is_among(int64_t id, const int64_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* A text about the last failed preparation task of the job on these nodes; "": none; NULL: err. */
static const char *failed_preparation(struct task_teller *t, const int64_t *ids, size_t n,
                                      struct err *e)
{
    struct batch_chore *rows;
    const struct batch_chore *last = NULL;
    size_t n_rows;
    if (st_batch_chore_list(t->st, t->a, t->job.id, "", &rows, &n_rows, e) < 0)
        return NULL;
    for (size_t i = 0; i < n_rows; i++)
        if (rows[i].kind == BATCH_PREPARATION && is_among(rows[i].node_id, ids, n) &&
            (!last || rows[i].end_us > last->end_us))
            last = &rows[i];
    if (!last)
        return "";
    const char *code =
        last->has_exit_code ? arena_printf(t->a, " with exit code %d", last->exit_code) : "";
    return arena_printf(t->a, ", last on %s%s%s", last->node_name, code,
                        failure_of(t, last->failure));
}

/* Adds a line if the job's preparation task failed on nodes of the pool: these nodes get no task of
 * the job. *all: the pool has no other node. */
static int tell_unprepared(struct task_teller *t, bool *all, struct err *e)
{
    struct node *nodes;
    int64_t *ids;
    size_t n_ids, n, barred = 0;
    *all = false;
    if (!t->job.prepares || t->pool.id == 0)
        return 0;
    if (st_node_barred(t->st, t->a, t->job.id, &ids, &n_ids, e) < 0 ||
        st_node_list(t->st, t->a, t->pool.id, &nodes, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        barred += is_among(nodes[i].id, ids, n_ids);
    if (barred == 0)
        return 0;
    *all = barred == n;
    const char *last = failed_preparation(t, ids, n_ids, e);
    if (!last)
        return -1;
    tell(t, 0,
         arena_printf(t->a,
                      "the preparation task of its job has failed on %zu of %zu nodes of "
                      "pool %s%s",
                      barred, n, t->pool.name, last));
    return 0;
}

/* Why the task waits; NULL: err. */
static const char *reason(struct task_teller *t, struct err *e)
{
    if (t->job.state != BATCH_JOB_ACTIVE)
        return arena_printf(t->a, "its job is %s: no task begins",
                            enum_to_name(batch_job_state_names, (int)t->job.state));
    if (t->task.waits > 0)
        return awaited(t, e);
    if (t->pool.id == 0)
        return arena_printf(t->a, "there is no pool %s", t->job.pool_name);
    if (t->pool.state != BATCH_POOL_ACTIVE)
        return arena_printf(t->a, "pool %s is being deleted", t->pool.name);
    if (t->task.slots > t->pool.slots)
        return arena_printf(t->a, "it needs %d slots, but nodes of pool %s have %d", t->task.slots,
                            t->pool.name, t->pool.slots);
    if (t->task.instances > 1 && t->task.instances > t->pool.size.dedicated + t->pool.size.low)
        return arena_printf(t->a, "it needs %d nodes, but the target of pool %s is %d",
                            t->task.instances, t->pool.name,
                            t->pool.size.dedicated + t->pool.size.low);
    if (t->task.manager & BATCH_MANAGER_OWN_CLASS && !batch_pool_is_dedicated(&t->pool))
        return arena_printf(t->a, "it needs a dedicated node, but the target of pool %s is 0",
                            t->pool.name);
    if (t->pool.has_dedicated + t->pool.has_low == 0)
        return arena_printf(t->a, "pool %s has no nodes", t->pool.name);
    return turn(t, e);
}

static int tell_now(struct task_teller *t, struct err *e)
{
    const char *text;
    bool nowhere;
    switch (t->task.state) {
    case BATCH_TASK_ACTIVE:
        if (tell_unprepared(t, &nowhere, e) < 0)
            return -1;
        text = nowhere && t->job.state == BATCH_JOB_ACTIVE && t->task.waits == 0
                   ? "it waits for a new or reimaged node, on which the preparation has not failed"
                   : reason(t, e);
        if (text)
            tell(t, 0, text);
        return text ? 0 : -1;
    case BATCH_TASK_PREPARING:
        tell(t, 0, arena_printf(t->a, "node %s is prepared for its job", t->task.node_name));
        break;
    case BATCH_TASK_RUNNING:
        tell(t, 0, arena_printf(t->a, "it runs on %s", t->task.node_name));
        break;
    case BATCH_TASK_COMPLETED:
        break;
    }
    return 0;
}

/* --- together --------------------------------------------------------------------------------- */

int task_find(struct request *r, const char *subscription, struct batch_account *account,
              struct batch_job *job, struct batch_task *task, struct err *e)
{
    struct storage *st = admin_of(r)->storage;
    int rc = st_batch_account_by_name(st, &r->arena, request_param(r, "workspace"), account, e);
    if (rc == 1 && (strcasecmp(account->scope.group, request_param(r, "group")) != 0 ||
                    strcasecmp(account->scope.subscription, subscription) != 0 ||
                    !seen_in_account(r, account, SEEN_BATCH_JOBS)))
        return 0;
    if (rc == 1)
        rc = st_batch_job_get(st, &r->arena, account->id, request_param(r, "experiment"), job, e);
    if (rc == 1)
        rc = st_batch_task_get(st, &r->arena, job->id, request_param(r, "job"), task, e);
    return rc;
}

static int find_node(struct task_teller *t, struct err *e)
{
    struct batch_pool p;
    const struct batch_task *k = &t->task;
    if (seen_use_read(t->r, RES_BATCH_TASK, k->id, &t->use, e) < 0)
        return -1;
    if (!k->pool_name || !k->node_name)
        return 0;
    int rc = st_batch_pool_get(t->st, t->a, t->account.id, k->pool_name, &p, e);
    if (rc == 1)
        rc = st_node_named(t->st, t->a, p.id, k->node_name, &t->node, e);
    if (rc == 0)
        t->node.id = 0;
    return rc < 0 ? -1 : 0;
}

/* Reads the task in the path, its pool and its node: 1; 0: no such task; -1: err. */
static int find(struct task_teller *t, const char *subscription, struct err *e)
{
    int rc = task_find(t->r, subscription, &t->account, &t->job, &t->task, e);
    if (rc == 1 && st_batch_pool_get(t->st, t->a, t->account.id, t->job.pool_name, &t->pool, e) < 0)
        return -1;
    return rc == 1 && find_node(t, e) < 0 ? -1 : rc;
}

static int by_time(const void *left, const void *right)
{
    int64_t a = ((const struct story_line *)left)->at_us,
            b = ((const struct story_line *)right)->at_us;
    a = a ? a : INT64_MAX;
    b = b ? b : INT64_MAX;
    return a < b ? -1 : a > b;
}

int task_story(struct request *r, const char *subscription, json_t **out, struct err *e)
{
    struct task_teller t = {.r = r, .a = &r->arena, .st = admin_of(r)->storage};
    int rc = find(&t, subscription, e);
    if (rc <= 0)
        return rc;
    tell_past(&t);
    if (tell_now(&t, e) < 0)
        return -1;
    qsort(t.lines, t.n, sizeof t.lines[0], by_time);
    json_t *story = json_array();
    for (size_t i = 0; i < t.n; i++)
        json_array_append_new(story, seen_line(t.lines[i].at_us, t.lines[i].text));
    *out = json_pack("{s:s, s:o, s:o}", "kind", "task", "job",
                     seen_task_render(r, &t.account, &t.job, &t.task), "story", story);
    return 1;
}
