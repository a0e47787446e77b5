/* SPDX-License-Identifier: MIT
 *
 * Deletion: marks a resource and everything in it, and removes rows from the leaves up. A table
 * says how for each kind; foreign keys (ON DELETE RESTRICT) refuse to remove a row that still holds
 * something.
 */
#include <assert.h>

#include "storage/storage_priv.h"

#define MAX_MARKS   16
#define MAX_LEAVING 2

static const struct kind_delete {
    const char *noun;
    enum err_code missing;
    enum stmt_id mark, inside[MAX_MARKS - 1]; /* the resource; what is in it */
    int n_inside;
    enum stmt_id remove;
    enum stmt_id removable; /* ST_COUNT: never asked */
    /* What is in it and need not be waited for, because it goes elsewhere at once. */
    enum stmt_id leaving[MAX_LEAVING];
    int n_leaving;
} kinds[] = {
    [RES_GROUP] = {.noun = "resource group",
                   .missing = ERR_GROUP_NOT_FOUND,
                   .mark = ST_MARK_GROUP,
                   .inside = {ST_MARK_WORKSPACES_OF_GROUP, ST_MARK_EXPERIMENTS_OF_GROUP,
                              ST_MARK_CLUSTERS_OF_GROUP, ST_MARK_FILE_SERVERS_OF_GROUP,
                              ST_MARK_HELD_OF_GROUP, ST_MARK_ACCOUNTS_OF_GROUP,
                              ST_MARK_SHARES_OF_GROUP, ST_MARK_BATCH_ACCOUNTS_OF_GROUP,
                              ST_MARK_BATCH_POOLS_OF_GROUP, ST_MARK_BATCH_JOBS_OF_GROUP},
                   .n_inside = 10,
                   .remove = ST_REMOVE_GROUP,
                   .removable = ST_REMOVABLE_GROUPS,
                   .leaving = {ST_VAULTS_LEAVE_GROUP},
                   .n_leaving = 1},
    [RES_WORKSPACE] = {.noun = "workspace",
                       .missing = ERR_WORKSPACE_NOT_FOUND,
                       .mark = ST_MARK_WORKSPACE,
                       .inside = {ST_MARK_EXPERIMENTS_OF_WORKSPACE, ST_MARK_CLUSTERS_OF_WORKSPACE,
                                  ST_MARK_FILE_SERVERS_OF_WORKSPACE, ST_MARK_HELD_OF_WORKSPACE},
                       .n_inside = 4,
                       .remove = ST_REMOVE_WORKSPACE,
                       .removable = ST_REMOVABLE_WORKSPACES},
    [RES_EXPERIMENT] = {.noun = "experiment",
                        .missing = ERR_EXPERIMENT_NOT_FOUND,
                        .mark = ST_MARK_EXPERIMENT,
                        .inside = {ST_MARK_HELD_OF_EXPERIMENT},
                        .n_inside = 1,
                        .remove = ST_REMOVE_EXPERIMENT,
                        .removable = ST_REMOVABLE_EXPERIMENTS},
    [RES_CLUSTER] = {.noun = "cluster",
                     .missing = ERR_CLUSTER_NOT_FOUND,
                     .mark = ST_MARK_CLUSTER,
                     .remove = ST_REMOVE_CLUSTER,
                     .removable = ST_REMOVABLE_CLUSTERS},
    [RES_FILE_SERVER] = {.noun = "file server",
                         .missing = ERR_FILE_SERVER_NOT_FOUND,
                         .mark = ST_MARK_FILE_SERVER,
                         .remove = ST_REMOVE_FILE_SERVER,
                         .removable = ST_REMOVABLE_FILE_SERVERS},
    [RES_JOB] = {.noun = "job",
                 .missing = ERR_JOB_NOT_FOUND,
                 .mark = ST_MARK_JOB,
                 .remove = ST_REMOVE_JOB,
                 .removable = ST_COUNT},
    [RES_STORAGE_ACCOUNT] = {.noun = "storage account",
                             .missing = ERR_RESOURCE_NOT_FOUND,
                             .mark = ST_MARK_ACCOUNT,
                             .inside = {ST_MARK_SHARES_OF_ACCOUNT},
                             .n_inside = 1,
                             .remove = ST_REMOVE_ACCOUNT,
                             .removable = ST_REMOVABLE_ACCOUNTS},
    [RES_BATCH_ACCOUNT] = {.noun = "Batch account",
                           .missing = ERR_RESOURCE_NOT_FOUND,
                           .mark = ST_MARK_BATCH_ACCOUNT,
                           .inside = {ST_MARK_BATCH_POOLS_OF_ACCOUNT,
                                      ST_MARK_BATCH_JOBS_OF_ACCOUNT},
                           .n_inside = 2,
                           .remove = ST_REMOVE_BATCH_ACCOUNT,
                           .removable = ST_REMOVABLE_BATCH_ACCOUNTS},
};

static_assert(sizeof kinds / sizeof kinds[0] == RES_BATCH_ACCOUNT + 1, "a row for each kind");

/* Nodes are not deleted so. */
static bool has_row(enum resource_kind kind)
{
    return kind >= RES_GROUP && kind <= RES_BATCH_ACCOUNT && kinds[kind].noun;
}

struct removal {
    enum resource_kind kind;
    int64_t id, now_us;
};

static int missing(const struct removal *r, struct err *e)
{
    return err_set(e, kinds[r->kind].missing, NULL, "There is no %s with the id %lld.",
                   kinds[r->kind].noun, (long long)r->id);
}

/* The set of provisioning states in which a resource may be deleted. It applies to everything in
 * the resource too. */
static int64_t deletable(void)
{
    int64_t set = 0;
    for (int s = PROV_CREATING; s <= PROV_DELETING; s++) {
        assert(prov_next((enum prov_state)s, PROV_EV_DELETED) == PROV_DELETING);
        set |= INT64_C(1) << s;
    }
    return set;
}

static int mark(struct storage *st, enum stmt_id stmt, const struct removal *r, struct err *e)
{
    struct q q;
    if (q_write(&q, st, stmt, e) < 0)
        return -1;
    q_int(&q, r->id);
    q_int(&q, r->now_us);
    q_int(&q, PROV_DELETING);
    q_int(&q, deletable());
    return q_run(&q, e);
}

static int leave(struct storage *st, enum stmt_id stmt, const struct removal *r, struct err *e)
{
    struct q q;
    if (q_write(&q, st, stmt, e) < 0)
        return -1;
    q_int(&q, r->id);
    q_int(&q, r->now_us);
    return q_run(&q, e);
}

static int mark_all(struct storage *st, void *ctx, struct err *e)
{
    const struct removal *r = ctx;
    const struct kind_delete *k = &kinds[r->kind];
    if (mark(st, k->mark, r, e) < 0)
        return -1;
    if (q_changed(st) == 0)
        return missing(r, e);
    for (int i = 0; i < k->n_inside; i++) {
        if (mark(st, k->inside[i], r, e) < 0)
            return -1;
    }
    for (int i = 0; i < k->n_leaving; i++)
        if (leave(st, k->leaving[i], r, e) < 0)
            return -1;
    return 0;
}

int st_mark_deleting(struct storage *st, enum resource_kind kind, int64_t id, int64_t now_us,
                     struct err *e)
{
    struct removal r = {.kind = kind, .id = id, .now_us = now_us};
    assert(has_row(kind));
    return st_tx(st, "mark deleting", mark_all, &r, e);
}

static int remove_row(struct storage *st, void *ctx, struct err *e)
{
    const struct removal *r = ctx;
    const struct kind_delete *k = &kinds[r->kind];
    struct q q;
    if (q_write(&q, st, k->remove, e) < 0)
        return -1;
    q_int(&q, r->id);
    if (q_run(&q, e) < 0)
        return err_prefix(e, "The %s %lld cannot be removed", k->noun, (long long)r->id);
    if (q_changed(st) == 0)
        return missing(r, e);
    if (r->kind == RES_CLUSTER && st_pool_remove(st, r->id, e) < 0)
        return -1;
    if (r->kind == RES_JOB &&
        (st_runs_remove(st, RES_JOB, r->id, e) < 0 ||
         st_dependency_settle(st, RES_JOB, r->id, ENDED_REMOVED, r->now_us, e) < 0))
        return err_prefix(e, "The %s %lld cannot be removed", k->noun, (long long)r->id);
    if (st_event_forget(st, r->kind, r->id, e) < 0)
        return -1;
    if (st_op_finish(st, r->kind, r->id, false, NULL, NULL, r->now_us, e) < 0)
        return -1;
    return st_op_finish(st, r->kind, r->id, true, NULL, NULL, r->now_us, e);
}

int st_remove(struct storage *st, enum resource_kind kind, int64_t id, int64_t now_us,
              struct err *e)
{
    struct removal r = {.kind = kind, .id = id, .now_us = now_us};
    assert(has_row(kind));
    return st_tx(st, "remove", remove_row, &r, e);
}

int st_removable_ids(struct storage *st, struct arena *a, enum resource_kind kind, int64_t **ids,
                     size_t *n, struct err *e)
{
    assert(has_row(kind));
    *ids = NULL;
    *n = 0;
    if (kinds[kind].removable == ST_COUNT)
        return 0;
    struct q q;
    q_read(&q, st, kinds[kind].removable);
    return q_ids(&q, a, ids, n, e);
}

int st_deleting_cluster_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                            struct err *e)
{
    struct q q;
    q_read(&q, st, ST_DELETING_CLUSTERS);
    return q_ids(&q, a, ids, n, e);
}

int st_deleting_account_ids(struct storage *st, struct arena *a, int64_t **ids, size_t *n,
                            struct err *e)
{
    struct q q;
    q_read(&q, st, ST_DELETING_ACCOUNTS);
    return q_ids(&q, a, ids, n, e);
}

int st_doomed_jobs(struct storage *st, struct arena *a, int limit, struct doomed_job **rows,
                   size_t *n, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_DOOMED_JOBS);
    q_int(&q, limit);
    void *items;
    if (q_rows(&q, a, &doomed_job_row, &items, n, e) < 0)
        return -1;
    *rows = items;
    return 0;
}

/* The first marked experiment from `at` on; *id stays 0 if there is none. */
static int next_experiment(struct storage *st, int64_t at, int64_t *id, struct err *e)
{
    struct q q;
    q_read(&q, st, ST_DELETING_EXPERIMENTS);
    q_int(&q, at);
    return q_one_int(&q, id, e) < 0 ? -1 : 0;
}

/* The id of the last of the next `limit` jobs; 0: there are no more. */
static int last_of_slice(struct storage *st, const struct st_doom *at, int limit, int64_t *last,
                         struct err *e)
{
    struct q q;
    q_read(&q, st, ST_DOOM_UP_TO);
    q_int(&q, at->experiment_id);
    q_int(&q, at->job_id);
    q_int(&q, limit);
    return q_one_int(&q, last, e) < 0 ? -1 : 0;
}

int st_doom_runs(struct storage *st, struct st_doom *at, int limit, struct err *e)
{
    struct st_doom next = {0, at->job_id};
    int64_t last = 0;
    struct q q;
    if (next_experiment(st, at->experiment_id, &next.experiment_id, e) < 0)
        return -1;
    if (next.experiment_id != at->experiment_id)
        next.job_id = 0;
    *at = next;
    if (at->experiment_id == 0)
        return 0;
    if (last_of_slice(st, at, limit, &last, e) < 0)
        return -1;
    if (last == 0) {
        *at = (struct st_doom){at->experiment_id + 1, 0};
        return 1;
    }
    if (q_write(&q, st, ST_DOOM_RUNS, e) < 0)
        return -1;
    q_int(&q, at->experiment_id);
    q_int(&q, at->job_id);
    q_int(&q, last);
    at->job_id = last;
    return q_run(&q, e) < 0 ? -1 : 1;
}
