/* SPDX-License-Identifier: MIT
 *
 * Deletion: marks a resource and everything in it, and removes rows from the leaves up. A table has
 * the functions for each kind; foreign keys (ON DELETE RESTRICT) refuse to remove a row with
 * children.
 */
#include <assert.h>
#include <limits.h>

#include "storage/detachment.h"
#include "storage/storage_priv.h"

#define MAX_MARKS   16
#define MAX_LEAVING 2

typedef int (*mark_fn)(struct storage *, int64_t id, int64_t now_us, int64_t allowed, struct err *);
typedef int (*leave_fn)(struct storage *, int64_t id, int64_t now_us, struct err *);
typedef int (*remove_fn)(struct storage *, int64_t id, struct err *);
typedef int (*ids_fn)(struct storage *, struct arena *, int64_t **ids, size_t *n, struct err *);

static const struct kind_delete {
    const char *noun;
    enum err_code missing;
    mark_fn mark, inside[MAX_MARKS]; /* the resource; its contents */
    remove_fn end_roles;             /* the role assignments at the resource and below it */
    remove_fn remove;
    ids_fn removable; /* lists the ids that can be removed; NULL: nobody asks for them */
    /* Contents that need not be waited for, because they are moved elsewhere at once. */
    leave_fn leaving[MAX_LEAVING];
} kinds[] = {
    [RES_GROUP] = {.noun = "resource group",
                   .missing = ERR_GROUP_NOT_FOUND,
                   .mark = st_mark_group,
                   .inside = {st_mark_workspaces_of_group, st_mark_experiments_of_group,
                              st_mark_clusters_of_group, st_mark_file_servers_of_group,
                              st_mark_held_of_group, st_mark_accounts_of_group,
                              st_mark_shares_of_group, st_mark_batch_accounts_of_group,
                              st_mark_batch_pools_of_group},
                   .end_roles = st_end_roles_of_group,
                   .remove = st_remove_group,
                   .removable = st_removable_groups,
                   .leaving = {st_vaults_leave_group}},
    [RES_WORKSPACE] = {.noun = "workspace",
                       .missing = ERR_WORKSPACE_NOT_FOUND,
                       .mark = st_mark_workspace,
                       .inside = {st_mark_experiments_of_workspace, st_mark_clusters_of_workspace,
                                  st_mark_file_servers_of_workspace, st_mark_held_of_workspace},
                       .end_roles = st_end_roles_of_workspace,
                       .remove = st_remove_workspace,
                       .removable = st_removable_workspaces},
    [RES_EXPERIMENT] = {.noun = "experiment",
                        .missing = ERR_EXPERIMENT_NOT_FOUND,
                        .mark = st_mark_experiment,
                        .inside = {st_mark_held_of_experiment},
                        .end_roles = st_end_roles_of_experiment,
                        .remove = st_remove_experiment,
                        .removable = st_removable_experiments},
    [RES_CLUSTER] = {.noun = "cluster",
                     .missing = ERR_CLUSTER_NOT_FOUND,
                     .mark = st_mark_cluster,
                     .end_roles = st_end_roles_of_cluster,
                     .remove = st_remove_cluster,
                     .removable = st_removable_clusters},
    [RES_FILE_SERVER] = {.noun = "file server",
                         .missing = ERR_FILE_SERVER_NOT_FOUND,
                         .mark = st_mark_file_server,
                         .end_roles = st_end_roles_of_file_server,
                         .remove = st_remove_file_server,
                         .removable = st_removable_file_servers},
    [RES_JOB] = {.noun = "job",
                 .missing = ERR_JOB_NOT_FOUND,
                 .mark = st_mark_job,
                 .end_roles = st_end_roles_of_job,
                 .remove = st_remove_job},
    [RES_STORAGE_ACCOUNT] = {.noun = "storage account",
                             .missing = ERR_RESOURCE_NOT_FOUND,
                             .mark = st_mark_account,
                             .inside = {st_mark_shares_of_account},
                             .end_roles = st_end_roles_of_account,
                             .remove = st_remove_account,
                             .removable = st_removable_accounts},
    [RES_BATCH_ACCOUNT] = {.noun = "Batch account",
                           .missing = ERR_RESOURCE_NOT_FOUND,
                           .mark = st_mark_batch_account,
                           .inside = {st_mark_batch_pools_of_account},
                           .end_roles = st_end_roles_of_batch_account,
                           .remove = st_remove_batch_account,
                           .removable = st_removable_batch_accounts},
};

static_assert(sizeof kinds / sizeof kinds[0] == RES_BATCH_ACCOUNT + 1, "a row for each kind");

/* Nodes are not deleted by this function. */
static bool has_row(enum resource_kind kind)
{
    return kind >= RES_GROUP && kind <= RES_BATCH_ACCOUNT && kinds[kind].noun;
}

struct row_removal {
    enum resource_kind kind;
    int64_t id, now_us;
};

static int missing(const struct row_removal *r, struct err *e)
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

static int mark_all(struct storage *st, void *ctx, struct err *e)
{
    const struct row_removal *r = ctx;
    const struct kind_delete *k = &kinds[r->kind];
    const int64_t allowed = deletable();
    if (k->mark(st, r->id, r->now_us, allowed, e) < 0)
        return -1;
    if (q_changed(st) == 0)
        return missing(r, e);
    for (size_t i = 0; i < MAX_MARKS && k->inside[i]; i++)
        if (k->inside[i](st, r->id, r->now_us, allowed, e) < 0)
            return -1;
    for (size_t i = 0; i < MAX_LEAVING && k->leaving[i]; i++)
        if (k->leaving[i](st, r->id, r->now_us, e) < 0)
            return -1;
    return 0;
}

int st_mark_deleting(struct storage *st, enum resource_kind kind, int64_t id, int64_t now_us,
                     struct err *e)
{
    struct row_removal r = {.kind = kind, .id = id, .now_us = now_us};
    assert(has_row(kind));
    return st_tx(st, "mark deleting", mark_all, &r, e);
}

/* Settles the dependencies on a job that is removed. */
static int settle_all(struct storage *st, const struct row_removal *r, struct err *e)
{
    const struct st_settling how = {ENDED_REMOVED, INT_MAX, r->now_us};
    bool left;
    return st_dependency_settle(st, RES_JOB, r->id, &how, &left, e);
}

static int remove_row(struct storage *st, void *ctx, struct err *e)
{
    const struct row_removal *r = ctx;
    const struct kind_delete *k = &kinds[r->kind];
    if (st_removes(st, r->kind, r->id, e) < 0 || k->end_roles(st, r->id, e) < 0 ||
        k->remove(st, r->id, e) < 0)
        return err_prefix(e, "The %s %lld cannot be removed", k->noun, (long long)r->id);
    if (q_changed(st) == 0)
        return missing(r, e);
    if (r->kind == RES_CLUSTER && st_pool_remove(st, r->id, e) < 0)
        return -1;
    if (r->kind == RES_JOB &&
        (st_runs_remove(st, RES_JOB, r->id, e) < 0 || settle_all(st, r, e) < 0))
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
    struct row_removal r = {.kind = kind, .id = id, .now_us = now_us};
    assert(has_row(kind));
    return st_tx(st, "remove", remove_row, &r, e);
}

/* ---- removals that nothing waits for --------------------------------------------------------- */

struct leaf_removal {
    int64_t id;
    remove_fn end_roles, remove;
};

static int remove_leaf_in_tx(struct storage *st, void *ctx, struct err *e)
{
    const struct leaf_removal *r = ctx;
    return r->end_roles(st, r->id, e) < 0 ? -1 : r->remove(st, r->id, e);
}

static int remove_leaf(struct storage *st, struct leaf_removal r, struct err *e)
{
    return st_tx(st, "remove leaf", remove_leaf_in_tx, &r, e);
}

int st_batch_application_remove(struct storage *st, int64_t id, struct err *e)
{
    return remove_leaf(
        st, (struct leaf_removal){id, st_end_roles_of_application, st_batch_application_remove_row},
        e);
}

int st_batch_package_remove(struct storage *st, int64_t id, struct err *e)
{
    return remove_leaf(
        st, (struct leaf_removal){id, st_end_roles_of_package, st_batch_package_remove_row}, e);
}

int st_batch_certificate_remove(struct storage *st, int64_t id, struct err *e)
{
    return remove_leaf(
        st, (struct leaf_removal){id, st_end_roles_of_certificate, st_batch_certificate_remove_row},
        e);
}

int st_secret_purge(struct storage *st, int64_t id, struct err *e)
{
    return remove_leaf(st, (struct leaf_removal){id, st_end_roles_of_secret, st_secret_purge_row},
                       e);
}

int st_removable_ids(struct storage *st, struct arena *a, enum resource_kind kind, int64_t **ids,
                     size_t *n, struct err *e)
{
    assert(has_row(kind));
    *ids = NULL;
    *n = 0;
    return kinds[kind].removable ? kinds[kind].removable(st, a, ids, n, e) : 0;
}

int st_doom_runs(struct storage *st, struct st_doom *at, int limit, struct err *e)
{
    struct st_doom next = {0, at->job_id};
    int64_t last = 0;
    if (st_deleting_experiment(st, at->experiment_id, &next.experiment_id, e) < 0)
        return -1;
    if (next.experiment_id != at->experiment_id)
        next.job_id = 0;
    *at = next;
    if (at->experiment_id == 0)
        return 0;
    if (st_doom_up_to(st, at->experiment_id, at->job_id, limit, &last, e) < 0)
        return -1;
    if (last == 0) {
        *at = (struct st_doom){at->experiment_id + 1, 0};
        return 1;
    }
    if (st_doom_runs_of(st, at->experiment_id, at->job_id, last, e) < 0)
        return -1;
    at->job_id = last;
    return 1;
}

/* ---- groups that are deleted at once ---- */

static int free_names(struct storage *st, int64_t id, int64_t now_us, struct err *e)
{
    /* Shares are found by the names that their accounts have until then. */
    static int (*const names[])(struct storage *, int64_t, struct err *) = {
        st_detach_shares, st_detach_deleted_shares, st_detach_accounts, st_detach_batch_accounts};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i](st, id, e) < 0)
            return -1;
    return st_detach_deletions(st, id, now_us, e) < 0 || st_detach_vaults(st, id, now_us, e) < 0
               ? -1
               : st_detach_group(st, id, e);
}

int st_group_detach(struct storage *st, int64_t id, int64_t now_us, struct err *e)
{
    st->changes_muted = true;
    int rc = free_names(st, id, now_us, e);
    st->changes_muted = false;
    return rc;
}

int st_detached_mark(struct storage *st, int64_t now_us, int limit, bool *more, struct err *e)
{
    struct arena a;
    int64_t *ids;
    size_t n = 0, i = 0;
    int64_t most = st_sql_changes(st) + limit;
    arena_init(&a);
    int rc = st_detached_unmarked(st, &a, limit, &ids, &n, e);
    for (; rc == 0 && i < n && st_sql_changes(st) < most; i++) {
        st->changes_muted = true;
        rc = st_mark_deleting(st, RES_GROUP, ids[i], now_us, e);
        st->changes_muted = false;
    }
    *more = i < n;
    arena_free(&a);
    return rc;
}

int st_roles_detach(struct storage *st, const char *scope, struct err *e)
{
    st->changes_muted = true;
    int rc = st_detach_roles(st, scope, e);
    st->changes_muted = false;
    return rc;
}
