/* SPDX-License-Identifier: MIT
 *
 * What tasks on nodes are called: nothing that a backup of the database repeats, so that none that
 * ran since is taken for another. On fake nodes, in virtual time.
 */
#include "virtual.h"

#define SETUP                                                                                      \
    "'setupTask': {'commandLine': 'fake run=60000', 'stdOutErrPathPrefix': '/var/log/setup'}"

static struct virtual_world *node_in_preparation(struct world *w, int64_t *cluster)
{
    *cluster = add_cluster(w, "c", (struct cluster_wish){.scale = {.target = 1}, .setup = SETUP});
    WAIT(w, virtual_of(w)->started == 1);
    return virtual_of(w);
}

WORLD_TEST(test_a_setup_task_is_found_again_after_a_restart, world_virtual(1))
{
    int64_t c;
    struct virtual_world *v = node_in_preparation(w, &c);
    restart(w);
    WAIT(w, counts(w, c).idle == 1);
    assert_int_equal(v->started, 1);
    assert_int_equal(v->ended, 1);
}

/* It was over when the backup was put back, and jobs ran since: the node has to be cleaned. */
WORLD_TEST(test_a_backup_goes_on_with_no_preparation_that_is_over, world_virtual(1))
{
    int64_t c;
    struct virtual_world *v = node_in_preparation(w, &c);
    back_up(w);
    WAIT(w, counts(w, c).idle == 1);
    int64_t j = add_job(w, c, "j", JOB("fake run=1000"));
    WAIT(w, job_ended(w, j));
    assert_int_equal(v->started, 2);
    put_back(w);
    WAIT(w, counts(w, c).idle == 1);
    assert_int_equal(v->started, 3);
    assert_says(v->last_started, "-setup");
}

/* The node heard that its set-up task may be forgotten, or not: then it hears it again. */
WORLD_TEST(test_a_setup_task_is_forgotten_over_the_next_link, world_virtual(1))
{
    int64_t c;
    struct virtual_world *v = node_in_preparation(w, &c);
    back_up(w);
    WAIT(w, counts(w, c).idle == 1);
    fake_cut(fake_of(w, c, 0));
    int64_t j = add_job(w, c, "j", JOB("fake run=1000"));
    WAIT(w, job_ended(w, j));
    put_back(w);
    WAIT(w, counts(w, c).idle == 1);
    assert_int_equal(v->started, 3);
}

WORLD_TEST(test_no_row_id_names_a_task, world_virtual(1))
{
    int64_t c;
    struct node *rows;
    const struct virtual_world *v = node_in_preparation(w, &c);
    nodes_of(w, c, &rows);
    const char *prefix =
        arena_printf(&w->a, "%s-%s-", rows[0].name, arena_strdup(&w->a, st_epoch(w->st)->text));
    assert_int_equal(strncmp(v->last_started, prefix, strlen(prefix)), 0);
    assert_string_equal(rows[0].epoch, st_epoch(w->st)->text);
}
