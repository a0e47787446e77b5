/* SPDX-License-Identifier: MIT
 *
 * The preparation and release tasks of a job, one row per node. Rows of one node are adjacent in
 * the database's order. Memory is the request's. On the loop's thread.
 */
#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/jobs.h"
#include "api/plane/batch/list.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/routes.h"
#include "api/plane/batch/tasks.h"
#include "model/batch/tables.h"
#include "scheduler/front/batch/tasks.h"
#include "storage/batch_chores.h"

/* A node of a job with its rows. NULL: that task did not run on the node. */
struct job_node {
    const struct batch_chore *preparation, *release;
};

static const struct batch_chore *any_of(const struct job_node *d)
{
    return d->preparation ? d->preparation : d->release;
}

/* --- filters ---------------------------------------------------------------------------------- */

enum {
    BY_POOL,
    BY_NODE,
    BY_PREPARATION_STATE,
    BY_PREPARATION_START,
    BY_PREPARATION_END,
    BY_PREPARATION_EXIT,
    BY_PREPARATION_RESULT,
    BY_RELEASE_STATE,
    BY_RELEASE_START,
    BY_RELEASE_END,
    BY_RELEASE_EXIT,
    BY_RELEASE_RESULT,
    FILTERS
};

#define FILTERS_OF(KIND, info)                                                                     \
    [BY_##KIND##_STATE] = {info "/state", BATCH_BY_TEXT, FILTER_EQUAL, NULL},                      \
    [BY_##KIND##_START] = {info "/startTime", BATCH_BY_TIME, FILTER_ORDER, NULL},                  \
    [BY_##KIND##_END] = {info "/endTime", BATCH_BY_TIME, FILTER_ORDER, NULL},                      \
    [BY_##KIND##_EXIT] = {info "/exitCode", BATCH_BY_NUMBER, FILTER_ORDER, NULL},                  \
    [BY_##KIND##_RESULT] = {info "/result", BATCH_BY_TEXT, FILTER_EQUAL, NULL}

static const struct batch_filter filters[FILTERS] = {
    [BY_POOL] = {"poolId", BATCH_BY_TEXT, FILTER_ANY_OP, NULL},
    [BY_NODE] = {"nodeId", BATCH_BY_TEXT, FILTER_ANY_OP, NULL},
    FILTERS_OF(PREPARATION, "jobPreparationTaskExecutionInfo"),
    FILTERS_OF(RELEASE, "jobReleaseTaskExecutionInfo"),
};

static const char *state_of(const struct batch_chore *c)
{
    return c->state == BATCH_CHORE_RUNNING ? "running" : "completed";
}

static const char *result_of(const struct batch_chore *c)
{
    return c->result ? enum_to_name(batch_result_names, (int)c->result) : NULL;
}

static bool is_wanted(const void *ctx, const struct filter_term *t)
{
    static const struct batch_chore none = {.id = 0};
    const struct job_node *d = ctx;
    bool of_release = t->property >= BY_RELEASE_STATE;
    const struct batch_chore *c = of_release ? d->release : d->preparation;
    bool there = c != NULL;
    c = c ? c : &none;
    double exit_code = c->exit_code;
    switch (of_release ? t->property - BY_RELEASE_STATE + BY_PREPARATION_STATE : t->property) {
    case BY_POOL:
        return filter_text_is(t, any_of(d)->pool_name);
    case BY_NODE:
        return filter_text_is(t, any_of(d)->node_name);
    case BY_PREPARATION_STATE:
        return filter_text_is(t, there ? state_of(c) : NULL);
    case BY_PREPARATION_START:
        return filter_time_is(t, c->start_us);
    case BY_PREPARATION_END:
        return filter_time_is(t, c->end_us);
    case BY_PREPARATION_EXIT:
        return filter_number_is(t, c->has_exit_code ? &exit_code : NULL);
    case BY_PREPARATION_RESULT:
        return filter_text_is(t, result_of(c));
    }
    return false;
}

/* --- showing ---------------------------------------------------------------------------------- */

enum { INFO = 11 };

/* Fills `out` with the execution of a preparation or release task. Optional members are last.
 * Returns the number of members. */
static size_t add_info(struct request *r, const struct batch_chore *c, const char *id,
                       const char *node_url, struct over out[INFO])
{
    const char *dir = arena_concat(&r->arena, batch_job_dir(&r->arena, c->job_name, c->job_number),
                                   "/", id ? id : "");
    const struct over all[INFO] = {
        SHOW_TEXT("startTime", batch_time_text(r, c->start_us)),
        SHOW_TEXT("endTime", batch_time_text(r, c->end_us)),
        SHOW_TEXT("state", state_of(c)),
        SHOW_TEXT("taskRootDirectory", dir),
        SHOW_TEXT("taskRootDirectoryUrl", arena_concat(&r->arena, node_url, "/files/", dir)),
        SHOW_JSON("containerInfo",
                  batch_container_text(r, &c->container, c->state != BATCH_CHORE_RUNNING)),
        SHOW_JSON("failureInfo", c->failure),
        SHOW_INT("retryCount", c->retries),
        SHOW_TEXT("lastRetryTime", batch_time_text(r, c->retry_us)),
        SHOW_TEXT("result", result_of(c)),
        SHOW_INT("exitCode", c->exit_code),
    };
    for (size_t i = 0; i < INFO; i++)
        out[i] = all[i];
    return INFO - !c->has_exit_code;
}

struct showing {
    struct request *r;
    struct batch_list l;
    struct batch_job_spec spec;
};

static void add(struct over *list, size_t *n, struct over what)
{
    list[*n] = what;
    ++*n;
}

static void show(struct showing *s, const struct job_node *d)
{
    struct request *r = s->r;
    const struct batch_chore *any = any_of(d);
    struct strbuf *out = page_row(s->l.page, any->node_name);
    struct over before[INFO], after[INFO], over[5];
    size_t n = 0;
    if (!out)
        return;
    const char *url =
        batch_url(r, arena_concat(&r->arena, "/pools/", batch_segment(r, any->pool_name), "/nodes/",
                                  batch_segment(r, any->node_name)));
    add(over, &n, SHOW_TEXT("poolId", any->pool_name));
    add(over, &n, SHOW_TEXT("nodeId", any->node_name));
    add(over, &n, SHOW_TEXT("nodeUrl", url));
    if (d->preparation && s->spec.preparation) {
        size_t k = add_info(r, d->preparation, s->spec.preparation->id, url, before);
        add(over, &n, SHOW_OBJECT_OF("jobPreparationTaskExecutionInfo", before, k));
    }
    if (d->release && s->spec.release) {
        size_t k = add_info(r, d->release, s->spec.release->id, url, after);
        add(over, &n, SHOW_OBJECT_OF("jobReleaseTaskExecutionInfo", after, k));
    }
    schema_render(out, &(struct rendering){.schema = &schema_batch_chores,
                                           .version = r->version,
                                           .over = over,
                                           .n = n,
                                           .set = s->l.set});
}

/* Renders an entry for each node. The rows of one node are adjacent, its preparation row first. */
static void show_all(struct showing *s, const struct batch_chore *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct job_node d = {.release = rows[i].kind == BATCH_RELEASE ? &rows[i] : NULL};
        if (!d.release) {
            d.preparation = &rows[i];
            if (i + 1 < n && rows[i + 1].kind == BATCH_RELEASE)
                d.release = &rows[++i];
        }
        if (!s->l.filter || filter_holds(s->l.filter, is_wanted, &d))
            show(s, &d);
    }
}

struct replied *batch_job_nodes_list(struct request *r)
{
    static const struct batch_list_kind kind = {.fragment =
                                                    "jobpreparationandreleasetaskstatuslist",
                                                .filters = filters,
                                                .n_filters = FILTERS,
                                                .schema = &schema_batch_chores};
    struct showing s = {.r = r};
    struct batch_job j;
    struct batch_chore *rows;
    struct err e;
    size_t n;
    if (find_batch_job(r, &j, &e) < 0 || batch_job_decode(&r->arena, j.doc, NULL, &s.spec, &e) < 0)
        return reply_err(r, &e);
    if (!s.spec.preparation && !s.spec.release) {
        err_set(&e, BATCH_JOB_PREPARATION_TASK_OR_RELEASE_TASK_NOT_SPECIFIED, NULL,
                "the job %s has neither a preparation nor a release task", j.name);
        return reply_err(r, &e);
    }
    if (batch_list_begin(r, &kind, &s.l, &e) < 0 ||
        st_batch_chore_list(arm_of(r)->storage, &r->arena, j.id, s.l.page->after, &rows, &n, &e) <
            0)
        return reply_err(r, &e);
    show_all(&s, rows, n);
    return page_reply(s.l.page);
}
