/* SPDX-License-Identifier: MIT
 *
 * Who watches the jobs is told of each that reads otherwise than before, however that came about.
 */
#include "test/unit/storage/fixture.h"

#define JOBS     3
#define TOLD_MAX 64

struct watch_view {
    struct fx *f;
    int64_t id[JOBS];
    char row[JOBS][400]; /* as it was read last; "": it is not there */
    int64_t told[TOLD_MAX];
    int n_told;
};

static void on_change(void *ctx, int64_t id)
{
    struct watch_view *v = ctx;
    assert_true(v->n_told < TOLD_MAX);
    v->told[v->n_told++] = id;
}

static bool was_told(const struct watch_view *v, int64_t id)
{
    for (int i = 0; i < v->n_told; i++)
        if (v->told[i] == id || v->told[i] == ST_ANY_JOB)
            return true;
    return false;
}

/* All of its own row, and the names above it. */
static void read_row(struct fx *f, int64_t id, char out[400])
{
    struct job j;
    int rc = st_job_by_id(f->st, &f->a, id, &j, &f->e);
    out[0] = '\0';
    ok(f, rc);
    if (rc == 1)
        snprintf(out, 400, "%lld %s %s %s %s %d %d %lld %lld %lld %lld %lld %lld %d %s %s/%s/%s/%s",
                 (long long)j.cluster_id, j.name, j.guid, j.doc, j.cluster_ref, j.prov_state,
                 j.exec_state, (long long)j.prov_us, (long long)j.exec_us, (long long)j.created_us,
                 (long long)j.updated_us, (long long)j.start_us, (long long)j.end_us,
                 j.has_exit_code ? j.exit_code : -1, j.errors ? j.errors : "", j.scope.group,
                 j.scope.workspace, j.scope.experiment, j.scope.location);
}

static void look(struct watch_view *v)
{
    for (int i = 0; i < JOBS; i++)
        read_row(v->f, v->id[i], v->row[i]);
    v->n_told = 0;
}

/* How many rows read otherwise than at the last look, and of how many of them nobody told. */
static int changed(const struct watch_view *v, int *untold)
{
    int n = 0;
    *untold = 0;
    for (int i = 0; i < JOBS; i++) {
        char row[400];
        read_row(v->f, v->id[i], row);
        if (strcmp(row, v->row[i]) == 0)
            continue;
        n++;
        *untold += !was_told(v, v->id[i]);
    }
    return n;
}

/* --- changes -------------------------------------------------------------------------------- */

static void start_first(struct watch_view *v)
{
    const struct st_job_move m = {.id = v->id[0],
                                  .from = EXEC_QUEUED,
                                  .to = EXEC_RUNNING,
                                  .now_us = T0 + 1,
                                  .start_us = T0 + 1};
    ok(v->f, st_job_move(v->f->st, &m, &v->f->e));
}

static void end_first(struct watch_view *v)
{
    const struct st_job_move m = {.id = v->id[0],
                                  .from = EXEC_RUNNING,
                                  .to = EXEC_FAILED,
                                  .now_us = T0 + 2,
                                  .end_us = T0 + 2,
                                  .has_exit_code = true,
                                  .exit_code = 3,
                                  .errors = "[]"};
    ok(v->f, st_job_move(v->f->st, &m, &v->f->e));
}

static void mark_second(struct watch_view *v)
{
    ok(v->f, st_mark_deleting(v->f->st, RES_JOB, v->id[1], T0 + 3, &v->f->e));
}

static int move_and_fail(struct storage *st, void *ctx, struct err *e)
{
    struct watch_view *v = ctx;
    ok(v->f, st_mark_deleting(st, RES_JOB, v->id[2], T0 + 3, e));
    look(v); /* somebody reads it as it is now */
    return err_set(e, ERR_INTERNAL, NULL, "no");
}

static void take_back_a_part(struct watch_view *v)
{
    assert_int_equal(st_tx(v->f->st, "part", move_and_fail, v, &v->f->e), -1);
}

static void take_back_a_turn(struct watch_view *v)
{
    fx_flush(v->f);
    ok(v->f, st_mark_deleting(v->f->st, RES_JOB, v->id[2], T0 + 3, &v->f->e));
    look(v);
    v->f->st->turn_doomed = true; /* as by a disk that is full */
    assert_true(fx_flush(v->f).failed);
}

static void mark_those_that_hold_nodes(struct watch_view *v)
{
    int64_t node = fx_add_node(v->f, v->f->cluster, 1, NODE_IDLE);
    fx_hold(v->f, v->id[2], 0, node);
    ok(v->f, st_mark_deleting(v->f->st, RES_GROUP, v->f->group, T0 + 4, &v->f->e));
    fx_let_go(v->f, v->id[2], T0 + 5);
    ok(v->f, st_node_remove(v->f->st, node, &v->f->e));
}

/* A foreign key's action changes the jobs. */
static void remove_their_cluster(struct watch_view *v)
{
    ok(v->f, st_remove(v->f->st, RES_CLUSTER, v->f->cluster, T0 + 6, &v->f->e));
}

static void remove_the_first(struct watch_view *v)
{
    ok(v->f, st_remove(v->f->st, RES_JOB, v->id[0], T0 + 7, &v->f->e));
}

static void write_by_hand(struct watch_view *v, const char *sql)
{
    ok(v->f, st_turn_begin(v->f->st, &v->f->e));
    ok(v->f, st_exec(v->f->st, sql, "by hand", &v->f->e));
}

static void rename_the_group(struct watch_view *v)
{
    write_by_hand(v, "UPDATE resource_group SET name = 'other'");
}

static void rename_the_experiment(struct watch_view *v)
{
    write_by_hand(v, "UPDATE experiment SET name = 'other'");
}

static void move_the_workspace(struct watch_view *v)
{
    write_by_hand(v, "UPDATE workspace SET location = 'here'");
}

static void change_all(struct watch_view *v)
{
    write_by_hand(v, "UPDATE job SET doc = '{}'");
}

static void remove_all(struct watch_view *v)
{
    write_by_hand(v, "DELETE FROM job WHERE true");
}

static void (*const changes[])(struct watch_view *v) = {
    start_first,          end_first,
    mark_second,          take_back_a_part,
    take_back_a_turn,     mark_those_that_hold_nodes,
    remove_their_cluster, remove_the_first,
    rename_the_group,     rename_the_experiment,
    move_the_workspace,   change_all,
    remove_all,
};
enum { CHANGES = sizeof changes / sizeof changes[0] };

static void begin(struct watch_view *v, struct fx *f)
{
    *v = (struct watch_view){.f = f};
    for (int i = 0; i < JOBS; i++) {
        v->id[i] = fx_add_job(f, arena_printf(&v->f->a, "j%d", i));
    }
}

DB_TEST(each_change_is_told)
{
    struct watch_view v;
    begin(&v, f);
    st_watch_jobs(v.f->st, on_change, &v);
    for (int i = 0; i < CHANGES; i++) {
        int untold;
        look(&v);
        changes[i](&v);
        if (changed(&v, &untold) == 0)
            fail_msg("change %d changed nothing", i);
        if (untold > 0)
            fail_msg("change %d: %d jobs changed, and nobody told", i, untold);
    }
}

/* The check itself can fail: nobody watches. */
DB_TEST(a_change_that_is_not_told_is_noticed)
{
    struct watch_view v;
    begin(&v, f);
    st_watch_jobs(v.f->st, NULL, NULL);
    for (int i = 0; i < CHANGES; i++) {
        int untold;
        look(&v);
        changes[i](&v);
        assert_true(changed(&v, &untold) > 0);
        assert_true(untold > 0);
    }
}

DB_TEST(other_jobs_are_left_alone)
{
    struct watch_view v;
    begin(&v, f);
    st_watch_jobs(v.f->st, on_change, &v);
    look(&v);
    start_first(&v);
    fx_add_job(v.f, "another");
    fx_add_experiment(v.f, v.f->workspace, "another");
    fx_flush(v.f);
    assert_true(was_told(&v, v.id[0]));
    assert_false(was_told(&v, v.id[1]));
}
