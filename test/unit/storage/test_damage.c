/* SPDX-License-Identifier: MIT
 *
 * Rows with numbers that cannot be: nobody gets them, and the error says where they are.
 */
#include "fixture.h"

/* No run has the id of its job. */
static int read_run(struct fx *f)
{
    struct run r;
    return st_run_by_id(f->st, &f->a, 2, &r, &f->e);
}

static int read_job(struct fx *f)
{
    struct job j;
    return st_job_by_id(f->st, &f->a, 1, &j, &f->e);
}

static int read_cluster(struct fx *f)
{
    struct cluster c;
    return st_cluster_by_id(f->st, &f->a, 1, &c, &f->e);
}

static int read_nodes(struct fx *f)
{
    struct node *rows;
    size_t n;
    return st_node_list(f->st, &f->a, 1, &rows, &n, &f->e) < 0 ? -1 : 1;
}

static int read_events(struct fx *f)
{
    struct event_rows rows;
    return st_event_since(f->st, &f->a, PAGE(10), &rows, &f->e) < 0 ? -1 : 1;
}

static const struct {
    const char *damage, *repair;
    int (*read)(struct fx *f);
    const char *says;
} cases[] = {
    {"UPDATE run SET owner_kind = 99", "UPDATE run SET owner_kind = 6", read_run,
     "run.owner_kind has the invalid value 99 in the row of run 2"},
    {"UPDATE run SET phase = 0", "UPDATE run SET phase = 1", read_run,
     "run.phase has the invalid value 0 in the row of run 2"},
    {"UPDATE run SET priority = 2147483648", "UPDATE run SET priority = -2147483648", read_job,
     "run.priority has the invalid value 2147483648 in the row of job 1"},
    {"UPDATE job SET exit_code = -2147483649", "UPDATE job SET exit_code = NULL", read_job,
     "job.exit_code has the invalid value -2147483649 in the row of job 1"},
    {"UPDATE pool SET scale_kind = 3", "UPDATE pool SET scale_kind = 2", read_cluster,
     "pool.scale_kind has the invalid value 3 in the row of cluster 1"},
    {"UPDATE cluster SET created_us = -1", "UPDATE cluster SET created_us = 0", read_cluster,
     "cluster.created_us has the invalid value -1 in the row of cluster 1"},
    {"UPDATE node SET slots = -1", "UPDATE node SET slots = 0", read_nodes,
     "node.slots has the invalid value -1 in the row of node 1"},
    {"UPDATE node SET state = 3", "UPDATE node SET state = 5", read_nodes,
     "node.state has the invalid value 3 in the row of node 1"},
    {"UPDATE event SET kind = 2147483648", "UPDATE event SET kind = 7", read_events,
     "event.kind has the invalid value 2147483648 in the row of event 1"},
};

DB_TEST(test_a_number_that_cannot_be_is_refused_with_its_place)
{
    struct node nd = {.pool_id = f->cluster, .name = "n", .ordinal = 1, .state = NODE_IDLE};
    int64_t id;
    assert_int_equal(f->cluster, 1);
    assert_int_equal(fx_add_job(f, "j"), 1);
    ok(f, st_node_insert(f->st, &nd, &id, &f->e));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        found(f, cases[i].read(f));
        ok(f, st_turn_begin(f->st, &f->e));
        ok(f, st_exec(f->st, cases[i].damage, "damage", &f->e));
        refused(f, cases[i].read(f), ERR_STORAGE);
        assert_says(f->e.msg, cases[i].says);
        ok(f, st_exec(f->st, cases[i].repair, "repair", &f->e));
        found(f, cases[i].read(f));
    }
}

TEST(test_every_number_that_is_read_has_its_bounds)
{
    static const struct st_row *const rows[] = {&group_row,
                                                &workspace_row,
                                                &experiment_row,
                                                &file_server_row,
                                                &pool_row,
                                                &cluster_row,
                                                &run_row,
                                                &job_row,
                                                &node_row,
                                                &allocation_row,
                                                &node_use_row,
                                                &kept_dir_row,
                                                &doomed_job_row,
                                                &job_shown_row,
                                                &machine_row_row,
                                                &operation_row,
                                                &event_row,
                                                &epoch_row,
                                                &vault_row,
                                                &secret_row,
                                                &secret_version_row,
                                                &run_secret_row,
                                                &identity_row,
                                                &credential_row,
                                                &role_assignment_row,
                                                &id_row};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t k = 0; k < rows[i]->n; k++) {
            const struct st_column *c = &rows[i]->columns[k];
            bool text = c->kind == COLUMN_TEXT || c->kind == COLUMN_SECRET;
            assert_int_equal(c->domain != NULL, !text && c->kind != COLUMN_BOOL);
            if (!c->domain)
                continue;
            assert_true(c->domain->least < c->domain->most);
            if (c->domain->holes)
                assert_in_range(c->domain->most, 0, 31);
            if (c->kind == COLUMN_INT || c->kind == COLUMN_MAYBE)
                assert_true(c->domain->least >= INT32_MIN && c->domain->most <= INT32_MAX);
        }
}
