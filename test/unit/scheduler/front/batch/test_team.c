/* SPDX-License-Identifier: MIT
 *
 * What runs on the nodes of a task that has several, and what they know of each other.
 */
#include <string.h>

#include "scheduler/front/batch/batch.h"
#include "scheduler/run/launch/env.h"
#include "scheduler/run/launch/launch.h"
#include "test/unit/support/arena_test.h"

static const char *const words[] = {"prog", "arg", NULL};
static const struct team_spec team = {.coordination = {words, 2, "prog arg"}};
static struct kv rooted[] = {
    {.name = "AZ_BATCH_NODE_SHARED_DIR", .value = "batch/shared"},
    {.name = "AZ_BATCH_TASK_DIR", .value = "batch/workitems/j/job-1/t"},
    {.name = "AZ_BATCH_TASK_WORKING_DIR", .value = "batch/workitems/j/job-1/t/wd"},
    {.name = "OTHER", .value = "batch/workitems/j/job-1/t2"},
};
static struct place_spec place = {.dir = "batch/workitems/j/job-1/t",
                                  .rooted = rooted,
                                  .n_rooted = 4,
                                  .program = {words, 2, "prog arg"},
                                  .team = &team};
static const struct run_spec spec = {.place = &place, .node_count = 2};
static const struct launch_node nodes[] = {
    {.name = "n0", .root = "/r/n0", .address = "10.0.0.4", .cores = 4},
    {.name = "n1", .root = "/r/n1", .address = "10.0.0.5", .cores = 8},
};
static const struct launch_input input = {.words = &batch_front_words,
                                          .spec = &spec,
                                          .run_guid = "G",
                                          .attempt = 1,
                                          .number = 7,
                                          .nodes = nodes,
                                          .n_nodes = 2};

static struct launch_env env_at(struct arena *a, int rank)
{
    struct launch_env out;
    struct err e = {0};
    assert_int_equal(launch_env(a, &input, rank, &out, &e), 0);
    return out;
}

#define HAS(at, name, value) assert_string_equal(env_get(&(at).env, name), value)

ARENA_TEST(test_each_node_has_a_part_of_the_directory)
{
    const struct launch_env first = env_at(a, 0), second = env_at(a, 1);
    assert_string_equal(first.std_dir, "/r/n0/batch/workitems/j/job-1/t");
    assert_string_equal(second.std_dir, "/r/n1/batch/workitems/j/job-1/t/1");
    assert_string_equal(second.run_dir, "/r/n1/batch/workitems/j/job-1/t/1/wd");
    HAS(first, "AZ_BATCH_TASK_DIR", "/r/n0/batch/workitems/j/job-1/t");
    HAS(second, "AZ_BATCH_TASK_DIR", "/r/n1/batch/workitems/j/job-1/t/1");
    HAS(second, "AZ_BATCH_TASK_WORKING_DIR", "/r/n1/batch/workitems/j/job-1/t/1/wd");
    HAS(second, "AZ_BATCH_TASK_SHARED_DIR", "/r/n1/batch/workitems/j/job-1/t");
    HAS(second, "AZ_BATCH_NODE_SHARED_DIR", "/r/n1/batch/shared");
    HAS(second, "OTHER", "/r/n1/batch/workitems/j/job-1/t2");
}

ARENA_TEST(test_they_know_each_other)
{
    const struct launch_env first = env_at(a, 0), second = env_at(a, 1);
    HAS(second, "AZ_BATCH_HOST_LIST", "10.0.0.4,10.0.0.5");
    HAS(second, "AZ_BATCH_NODE_LIST", "10.0.0.4;10.0.0.5");
    HAS(second, "CCP_NODES", "2 10.0.0.4 4 10.0.0.5 8");
    assert_int_equal(strncmp(env_get(&second.env, "AZ_BATCH_MASTER_NODE"), "10.0.0.4:", 9), 0);
    HAS(second, "AZ_BATCH_MASTER_NODE", env_get(&first.env, "AZ_BATCH_MASTER_NODE"));
    HAS(first, "AZ_BATCH_IS_CURRENT_NODE_MASTER", "true");
    HAS(second, "AZ_BATCH_IS_CURRENT_NODE_MASTER", "false");
}

ARENA_TEST(test_all_coordinate_and_the_first_goes_on)
{
    struct launch_plan plan;
    struct failure why;
    bool over[3] = {true, true, false};
    assert_true(launch_plan(a, &input, &plan, &why));
    assert_int_equal(plan.n, 3);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(plan.processes[i].role, LAUNCH_PREPARATION);
        assert_int_equal(plan.processes[i].rank, i);
        assert_true(plan.processes[i].leaves);
        assert_ptr_equal(plan.processes[i].program, &team.coordination);
    }
    assert_int_equal(plan.processes[2].role, LAUNCH_MAIN);
    assert_int_equal(plan.processes[2].rank, 0);
    assert_false(plan.processes[2].leaves);
    assert_false(launch_succeeded(&plan, over));
    over[2] = true;
    assert_true(launch_succeeded(&plan, over));
}
