/* SPDX-License-Identifier: MIT
 *
 * Azure Batch's tasks, what they wait for, and what they leave on nodes.
 */
#include <assert.h>

#include "storage/batch_jobs.h"
#include "storage/storage_priv.h"

static int tasks(struct q *q, struct arena *a, struct batch_task **rows, size_t *n, struct err *e)
{
    void *items;
    if (q_rows(q, a, &batch_task_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_batch_task_insert(struct storage *st, const struct batch_task *t, const char *secrets,
                         int64_t *id, struct err *e)
{
    return q_new(st, ST_BATCH_TASK_INSERT, &batch_task_row, t, secrets, id, e);
}

int st_batch_task_get(struct storage *st, struct arena *a, int64_t job_id, const char *name,
                      struct batch_task *out, struct err *e)
{
    return q_named(st, ST_BATCH_TASK_GET, a, job_id, name, &batch_task_row, out, e);
}

int st_batch_task_by_id(struct storage *st, struct arena *a, int64_t id, struct batch_task *out,
                        struct err *e)
{
    return q_by_id(st, ST_BATCH_TASK_BY_ID, a, id, &batch_task_row, out, e);
}

int st_batch_task_secrets(struct storage *st, struct arena *a, int64_t id, const char **secrets,
                          struct err *e)
{
    return q_secret_of(st, ST_BATCH_TASK_SECRETS, a, id, secrets, e);
}

static const char *const properties[BATCH_TASK_PROPERTIES] = {
    [BATCH_TASK_BY_ID] = "bt.name",
    [BATCH_TASK_BY_STATE] = "bt.state",
    [BATCH_TASK_BY_STATE_TIME] = "bt.state_us",
    [BATCH_TASK_BY_CREATED] = "bt.created_us",
    [BATCH_TASK_BY_MODIFIED] = "bt.updated_us",
    [BATCH_TASK_BY_START] = "nullif(bt.start_us, 0)",
    [BATCH_TASK_BY_END] = "nullif(bt.end_us, 0)",
    [BATCH_TASK_BY_EXIT_CODE] = "bt.exit_code",
    [BATCH_TASK_BY_RESULT] = "nullif(bt.result, 0)",
};

int st_batch_task_list(struct storage *st, struct arena *a, int64_t job_id,
                       const struct filter *filter, const char *after, const char *upto, int limit,
                       struct batch_task **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read_filtered(&q, st, ST_BATCH_TASK_LIST, filter, properties);
    q_int(&q, job_id);
    q_text(&q, after ? after : "");
    q_int(&q, limit);
    q_text(&q, upto ? upto : Q_LAST_NAME);
    return tasks(&q, a, rows, n, e);
}

int st_batch_task_nth(struct storage *st, struct arena *a, int64_t job_id, const char *after,
                      int nth, const char **name, struct err *e)
{
    return q_nth_name(st, ST_BATCH_TASK_NTH, a, job_id, after, nth, name, e);
}

int st_batch_task_of_node(struct storage *st, struct arena *a, const char *node_name, int limit,
                          struct batch_task **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_TASK_OF_NODE);
    q_text(&q, node_name);
    q_int(&q, limit);
    return tasks(&q, a, rows, n, e);
}

int st_batch_node_total(struct storage *st, struct arena *a, const char *node_name,
                        struct batch_node_total *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_NODE_TOTAL);
    q_text(&q, node_name);
    return q_one(&q, a, &batch_node_total_row, out, e);
}

int st_batch_task_update(struct storage *st, int64_t id, const char *doc, int64_t now_us,
                         struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_TASK_UPDATE, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, doc);
    q_int(&q, now_us);
    return q_change(&q, "task", id, e);
}

static void bind_end(struct q *q, const struct st_batch_task_move *m)
{
    if (m->has_exit_code)
        q_int(q, m->exit_code);
    else
        q_null(q);
    q_int(q, m->result);
    q_text(q, m->failure);
    q_int(q, m->satisfies);
    q_int(q, m->files_until_us);
    q_text(q, m->container_error);
}

int st_batch_task_move(struct storage *st, const struct st_batch_task_move *m, struct err *e)
{
    struct q q;
    assert(m->from != 0 && m->to != 0 && m->to != m->from);
    if (q_write(&q, st, ST_BATCH_TASK_MOVE, e) < 0)
        return -1;
    q_int(&q, m->id);
    q_int(&q, m->from);
    q_int(&q, m->to);
    q_int(&q, m->now_us);
    q_int(&q, m->by_user);
    q_int(&q, m->starts);
    q_text(&q, m->pool_name);
    q_text(&q, m->node_name);
    q_int(&q, m->retried);
    q_int(&q, m->requeued);
    bind_end(&q, m);
    if (q_run(&q, e) < 0)
        return -1;
    return q_moved(st, ST_BATCH_TASK_STATE, "Task", batch_task_state_names, m->id, (int)m->from,
                   (int)m->to, e);
}

int st_batch_task_contain(struct storage *st, int64_t id, const char *container_id, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_TASK_CONTAIN, e) < 0)
        return -1;
    q_int(&q, id);
    q_text(&q, container_id);
    return q_change(&q, "task", id, e);
}

static int some(struct storage *st, enum stmt_id stmt, struct arena *a, int64_t key, int limit,
                struct batch_task **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, stmt);
    q_int(&q, key);
    q_int(&q, limit);
    return tasks(&q, a, rows, n, e);
}

int st_batch_task_ready(struct storage *st, struct arena *a, int64_t job_id, int nodes, int limit,
                        struct batch_task **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_TASK_READY);
    q_int(&q, job_id);
    q_int(&q, limit);
    q_int(&q, nodes);
    return tasks(&q, a, rows, n, e);
}

int st_batch_task_fed(struct storage *st, struct arena *a, int64_t job_id, int limit,
                      struct batch_task **rows, size_t *n, struct err *e)
{
    return some(st, ST_BATCH_TASK_FED, a, job_id, limit, rows, n, e);
}

int st_batch_task_count_fed(struct storage *st, int64_t job_id, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_TASK_COUNT_FED);
    q_int(&q, job_id);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}

int st_run_count_waiting(struct storage *st, int64_t pool_id, int priority, int64_t *n,
                         struct err *e)
{
    struct q q;
    q_read(&q, st, ST_RUN_COUNT_WAITING);
    q_int(&q, pool_id);
    q_int(&q, priority);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}

int st_batch_task_over(struct storage *st, struct arena *a, int64_t **ids, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_TASK_FED_RUNS);
    q_int(&q, RES_BATCH_TASK);
    return q_ids(&q, a, ids, n, e);
}

/* Sets one number of a task. */
static int set(struct storage *st, enum stmt_id stmt, int64_t id, int64_t value, struct err *e)
{
    struct q q;
    if (q_write(&q, st, stmt, e) < 0)
        return -1;
    q_int(&q, id);
    q_int(&q, value);
    return q_change(&q, "task", id, e);
}

int st_batch_task_feed(struct storage *st, int64_t id, bool fed, struct err *e)
{
    return set(st, ST_BATCH_TASK_FEED, id, fed, e);
}

int st_batch_task_set_fate(struct storage *st, int64_t id, enum batch_fate fate, struct err *e)
{
    return set(st, ST_BATCH_TASK_FATE, id, fate, e);
}

int st_batch_task_set_files(struct storage *st, int64_t id, enum batch_files files, struct err *e)
{
    return set(st, ST_BATCH_TASK_SET_FILES, id, files, e);
}

int st_batch_task_remove(struct storage *st, int64_t id, struct err *e)
{
    return q_change_of(st, ST_BATCH_TASK_REMOVE, id, "task", e);
}

int st_batch_task_remove_some(struct storage *st, int64_t job_id, int limit, bool *left,
                              struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_TASK_REMOVE_SOME, e) < 0)
        return -1;
    q_int(&q, job_id);
    q_int(&q, limit);
    if (q_run(&q, e) < 0)
        return -1;
    *left = q_changed(st) == limit;
    return 0;
}

int st_batch_task_files_due(struct storage *st, struct arena *a, int64_t now_us, int limit,
                            struct batch_task **rows, size_t *n, struct err *e)
{
    return some(st, ST_BATCH_TASK_FILES_DUE, a, now_us, limit, rows, n, e);
}

int st_batch_task_files_next(struct storage *st, int64_t *at_us, struct err *e)
{
    struct q q;
    *at_us = 0;
    q_read(&q, st, ST_BATCH_TASK_FILES_NEXT);
    return q_one_int(&q, at_us, e) < 0 ? -1 : 0;
}

/* --- what tasks wait for --------------------------------------------------------------------- */

int st_batch_wait_add(struct storage *st, const struct batch_task *t, const char *name,
                      struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_WAIT_ADD, e) < 0)
        return -1;
    q_int(&q, t->job_id);
    q_int(&q, t->id);
    q_text(&q, name);
    return q_run(&q, e);
}

int st_batch_wait_add_range(struct storage *st, const struct batch_task *t, int64_t low,
                            int64_t high, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_WAIT_ADD_RANGE, e) < 0)
        return -1;
    q_int(&q, t->job_id);
    q_int(&q, low);
    q_int(&q, t->id);
    q_int(&q, high);
    return q_run(&q, e);
}

int st_batch_wait_of(struct storage *st, struct arena *a, int64_t task_id, int limit,
                     struct batch_wait **rows, size_t *n, struct err *e)
{
    struct q q;
    int rc;
    *rows = arena_alloc(a, (size_t)limit * sizeof **rows);
    *n = 0;
    q_read(&q, st, ST_BATCH_WAIT_OF);
    q_int(&q, task_id);
    q_int(&q, limit);
    while ((rc = q_step(&q, e)) == 1) {
        struct batch_wait *w = &(*rows)[(*n)++];
        w->name = c_text(&q, a);
        w->low = c_int(&q);
        w->high = c_int(&q);
        w->left = c_int(&q);
    }
    return rc;
}

int st_batch_wait_count(struct storage *st, int64_t task_id, struct err *e)
{
    return q_change_of(st, ST_BATCH_WAIT_COUNT, task_id, "task", e);
}

static int settle_name(struct storage *st, enum stmt_id stmt, const struct batch_task *t,
                       struct err *e)
{
    struct q q;
    if (q_write(&q, st, stmt, e) < 0)
        return -1;
    q_int(&q, t->job_id);
    q_text(&q, t->name);
    return q_run(&q, e);
}

/* An interval of numbers that are done. */
struct done {
    int64_t low, high;
};

/* The last that begins at or before n; a getter. */
static int done_at(struct storage *st, int64_t job_id, int64_t n, struct done *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_DONE_AT);
    q_int(&q, job_id);
    q_int(&q, n);
    int rc = q_step(&q, e);
    if (rc != 1)
        return rc;
    out->low = c_int(&q);
    out->high = c_int(&q);
    q_end(&q);
    return 1;
}

static int write_done(struct storage *st, enum stmt_id stmt, int64_t job_id, int64_t low,
                      const int64_t *high, struct err *e)
{
    struct q q;
    if (q_write(&q, st, stmt, e) < 0)
        return -1;
    q_int(&q, job_id);
    q_int(&q, low);
    if (high)
        q_int(&q, *high);
    return q_run(&q, e);
}

/* Adds n to the intervals; *with becomes the one that it is in now. 0: it was in one. */
static int add_done(struct storage *st, int64_t job_id, int64_t n, struct done *with, struct err *e)
{
    struct done before, behind;
    int rc = done_at(st, job_id, n, &before, e);
    if (rc < 0)
        return -1;
    if (rc == 1 && before.high >= n)
        return 0;
    *with = (struct done){rc == 1 && before.high == n - 1 ? before.low : n, n};
    rc = n < INT64_MAX ? done_at(st, job_id, n + 1, &behind, e) : 0;
    if (rc < 0)
        return -1;
    if (rc == 1 && behind.low == n + 1) {
        with->high = behind.high;
        if (write_done(st, ST_BATCH_DONE_DROP, job_id, behind.low, NULL, e) < 0)
            return -1;
    }
    return write_done(st, ST_BATCH_DONE_PUT, job_id, with->low, &with->high, e) < 0 ? -1 : 1;
}

static int settle_ranges(struct storage *st, enum stmt_id stmt, int64_t job_id, int64_t n,
                         const struct done *with, struct err *e)
{
    struct q q;
    if (q_write(&q, st, stmt, e) < 0)
        return -1;
    q_int(&q, job_id);
    q_int(&q, with->low);
    q_int(&q, n);
    q_int(&q, with->high);
    return q_run(&q, e);
}

/* A range that n completes begins in the interval up to n and ends in the one from n on. Those that
 * begin or end in the shorter one are looked at: that is then at most half of what it is in, so
 * each beginning and each end is looked at as often as the numbers can be halved, whatever the
 * order in which they come. */
static int settle_number(struct storage *st, int64_t job_id, int64_t n, struct err *e)
{
    struct done with;
    int rc = add_done(st, job_id, n, &with, e);
    if (rc <= 0)
        return rc;
    bool by_low = n - with.low <= with.high - n;
    if (settle_ranges(st, by_low ? ST_BATCH_RANGE_MET_BY_LOW : ST_BATCH_RANGE_MET_BY_HIGH, job_id,
                      n, &with, e) < 0)
        return -1;
    return settle_ranges(st, by_low ? ST_BATCH_RANGE_REMOVE_BY_LOW : ST_BATCH_RANGE_REMOVE_BY_HIGH,
                         job_id, n, &with, e);
}

int st_batch_wait_settle(struct storage *st, const struct batch_task *t, int64_t number,
                         struct err *e)
{
    if (settle_name(st, ST_BATCH_WAIT_MET, t, e) < 0 ||
        settle_name(st, ST_BATCH_WAIT_MET_REMOVE, t, e) < 0)
        return -1;
    return number < 0 ? 0 : settle_number(st, t->job_id, number, e);
}

/* --- what is to be removed from nodes -------------------------------------------------------- */

int st_batch_litter_add(struct storage *st, int64_t node_id, const char *path, int64_t due_us,
                        struct err *e)
{
    struct q q;
    const struct batch_litter row = {.node_id = node_id, .path = path, .due_us = due_us};
    if (q_write(&q, st, ST_BATCH_LITTER_INSERT, e) < 0)
        return -1;
    q_row(&q, &batch_litter_row, &row, NULL);
    return q_run(&q, e);
}

int st_batch_litter_add_all(struct storage *st, int64_t pool_id, const char *path, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_LITTER_INSERT_ALL, e) < 0)
        return -1;
    q_int(&q, pool_id);
    q_text(&q, path);
    return q_run(&q, e);
}

int st_batch_litter_keep(struct storage *st, int64_t node_id, const char *path, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_BATCH_LITTER_KEEP, e) < 0)
        return -1;
    q_int(&q, node_id);
    q_text(&q, path);
    return q_run(&q, e);
}

int st_batch_litter_of_node(struct storage *st, struct arena *a, int64_t node_id, int64_t now_us,
                            int limit, struct batch_litter **rows, size_t *n, struct err *e)
{
    struct q q;
    void *items;
    q_read(&q, st, ST_BATCH_LITTER_OF_NODE);
    q_int(&q, node_id);
    q_int(&q, now_us);
    q_int(&q, limit);
    if (q_rows(&q, a, &batch_litter_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_batch_litter_nodes(struct storage *st, struct arena *a, int64_t now_us, int64_t **ids,
                          size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_LITTER_NODES);
    q_int(&q, now_us);
    return q_ids(&q, a, ids, n, e);
}

int st_batch_litter_next(struct storage *st, int64_t now_us, int64_t *at_us, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_LITTER_NEXT);
    q_int(&q, now_us);
    return q_one_int(&q, at_us, e) < 0 ? -1 : 0;
}

int st_batch_kept_until(struct storage *st, int64_t node_id, const char *node_name, int64_t now_us,
                        int64_t *at_us, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_BATCH_KEPT_UNTIL);
    q_int(&q, node_id);
    q_text(&q, node_name);
    q_int(&q, now_us);
    return q_one_int(&q, at_us, e) < 0 ? -1 : 0;
}

int st_batch_litter_gone(struct storage *st, int64_t id, struct err *e)
{
    return q_change_of(st, ST_BATCH_LITTER_REMOVE, id, "litter", e);
}
