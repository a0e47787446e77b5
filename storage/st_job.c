/* SPDX-License-Identifier: MIT
 *
 * Jobs.
 */
#include "storage/storage_priv.h"

static void read_job(struct q *q, struct arena *a, void *row)
{
    struct job *j = row;
    j->id = c_int(q);
    j->experiment_id = c_int(q);
    j->cluster_id = c_int(q);
    j->name = c_text(q, a);
    j->guid = c_text(q, a);
    j->doc = c_text(q, a);
    j->cluster_ref = c_text(q, a);
    j->priority = (int)c_int(q);
    j->node_count = (int)c_int(q);
    j->max_wall_us = c_int(q);
    j->prov_state = (enum prov_state)c_int(q);
    j->exec_state = (enum exec_state)c_int(q);
    j->prov_us = c_int(q);
    j->exec_us = c_int(q);
    j->created_us = c_int(q);
    j->updated_us = c_int(q);
    j->start_us = c_int(q);
    j->end_us = c_int(q);
    j->has_exit_code = !c_is_null(q);
    j->exit_code = (int)c_int(q);
    j->attempt = (int)c_int(q);
    j->errors = c_text(q, a);
    j->scope = (struct scope){0};
    c_scope(q, a, SCOPE_EXPERIMENT, &j->scope);
}

static void bind_exit_code(struct q *q, bool has, int code)
{
    if (has)
        q_int(q, code);
    else
        q_null(q);
}

int st_job_insert(struct storage *st, const struct job *j, const char *secrets, int64_t *id,
                  struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_JOB_INSERT, e) < 0)
        return -1;
    q_int(&q, j->experiment_id);
    q_id(&q, j->cluster_id);
    q_text(&q, j->name);
    q_text(&q, j->guid);
    q_text(&q, j->doc);
    q_text(&q, j->cluster_ref);
    q_int(&q, j->priority);
    q_int(&q, j->node_count);
    q_int(&q, j->max_wall_us);
    q_int(&q, j->prov_state);
    q_int(&q, j->exec_state);
    q_int(&q, j->prov_us);
    q_int(&q, j->exec_us);
    q_int(&q, j->created_us);
    q_int(&q, j->updated_us);
    q_int(&q, j->start_us);
    q_int(&q, j->end_us);
    bind_exit_code(&q, j->has_exit_code, j->exit_code);
    q_int(&q, j->attempt);
    q_text(&q, j->errors);
    q_sealed(&q, secrets);
    return q_insert(&q, id, e);
}

int st_job_get(struct storage *st, struct arena *a, int64_t experiment_id, const char *name,
               struct job *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_GET);
    q_int(&q, experiment_id);
    q_text(&q, name);
    return q_one(&q, a, read_job, out, e);
}

int st_job_find(struct storage *st, struct arena *a, const struct scope *scope, const char *name,
                struct job *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_FIND);
    q_text(&q, scope->subscription);
    q_text(&q, scope->group);
    q_text(&q, scope->workspace);
    q_text(&q, scope->experiment);
    q_text(&q, name);
    return q_one(&q, a, read_job, out, e);
}

int st_job_by_id(struct storage *st, struct arena *a, int64_t id, struct job *out, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_BY_ID);
    q_int(&q, id);
    return q_one(&q, a, read_job, out, e);
}

static int jobs(struct q *q, struct arena *a, struct job **rows, size_t *n, struct err *e)
{
    void *items;
    if (q_rows(q, a, read_job, sizeof **rows, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

int st_job_list(struct storage *st, struct arena *a, int64_t experiment_id, int64_t after,
                int limit, struct job **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_LIST);
    q_int(&q, experiment_id);
    q_int(&q, after);
    q_int(&q, limit);
    return jobs(&q, a, rows, n, e);
}

int st_job_list_named(struct storage *st, struct arena *a, const char *subscription,
                      const char *workspace, const char *experiment, int64_t after, int limit,
                      struct job **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_LIST_NAMED);
    q_text(&q, subscription);
    q_text(&q, workspace);
    q_text(&q, experiment);
    q_int(&q, after);
    q_int(&q, limit);
    return jobs(&q, a, rows, n, e);
}

int st_job_unfinished(struct storage *st, const char *subscription, int64_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_UNFINISHED);
    q_text(&q, subscription);
    return q_one_int(&q, n, e) < 0 ? -1 : 0;
}

int st_job_secrets(struct storage *st, struct arena *a, int64_t id, const char **secrets,
                   struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_SECRETS);
    q_int(&q, id);
    return q_secret(&q, a, secrets, e);
}

int st_job_queue(struct storage *st, struct arena *a, int64_t cluster_id, int limit,
                 struct job **rows, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_QUEUE);
    q_int(&q, cluster_id);
    q_int(&q, limit);
    return jobs(&q, a, rows, n, e);
}

int st_job_queue_demand(struct storage *st, int64_t cluster_id, int64_t *nodes, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_QUEUE_DEMAND);
    q_int(&q, cluster_id);
    return q_one_int(&q, nodes, e) < 0 ? -1 : 0;
}

int st_job_active_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_JOB_ACTIVE_IDS);
    return q_ids(&q, a, ids, n, e);
}

int st_job_move(struct storage *st, const struct st_job_move *m, struct err *e)
{
    struct q q;
    if (q_write(&q, st, ST_JOB_MOVE, e) < 0)
        return -1;
    q_int(&q, m->id);
    q_int(&q, m->from);
    q_int(&q, m->to);
    q_int(&q, m->now_us);
    q_int(&q, m->start_us);
    q_int(&q, m->end_us);
    bind_exit_code(&q, m->has_exit_code, m->exit_code);
    q_text(&q, m->errors);
    q_int(&q, m->attempt);
    if (q_run(&q, e) < 0)
        return -1;
    return q_moved(st, ST_JOB_STATE, "Job", exec_state_names, m->id, m->from, m->to, e);
}
