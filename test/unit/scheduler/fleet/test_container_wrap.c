/* SPDX-License-Identifier: MIT
 *
 * A task of the job becomes one that executes in the job's container.
 */
#include "scheduler/fleet/container/container.h"
#include "test/unit/support/arena_test.h"

static const struct container_spec settings = {.image = "i"};
static const struct container container = {.spec = &settings,
                                           .runtime = "podman",
                                           .name = "batchai-G-1",
                                           .root = "/n",
                                           .run_dir = "/n/jobs/G-1",
                                           .log_path = "/n/jobs/G-1/execution.log"};

static const char *command_of(struct arena *a, const struct kv *own, size_t n_own)
{
    struct task_spec task = {.id = "t", .command_line = "run \"$A\""};
    container_wrap(a, &container, own, n_own, &task);
    const struct env env = {.items = (struct kv *)(uintptr_t)task.env, .n = task.n_env};
    return env_get(&env, "BATCHAI_COMMAND");
}

ARENA_TEST(a_task_without_variables_is_its_command)
{
    assert_string_equal(command_of(a, NULL, 0), "run \"$A\"");
}

/* The command that calls the runtime has the agent's rights, and the run's account may write where
 * its own processes begin. */
ARENA_TEST(a_task_begins_in_the_nodes_root)
{
    struct task_spec task = {.id = "t", .command_line = "true", .cwd = "/n/jobs/G-1/wd"};
    container_wrap(a, &container, NULL, 0, &task);
    assert_string_equal(task.cwd, "/n");
}

ARENA_TEST(variables_of_a_task_are_set_before_its_command)
{
    static const struct kv own[] = {{.name = "A", .value = "it's $HOME"}, {.name = "B"}};
    assert_string_equal(command_of(a, own, 2),
                        "export A='it'\\''s $HOME'\nexport B=''\nrun \"$A\"");
}

ARENA_TEST(an_entrypoint_comes_before_the_words_of_a_program)
{
    static const struct container_spec own = {.image = "i", .entrypoint = "/bin/in it"};
    static const char *const words[] = {"-c", "a b"};
    struct container c = container;
    c.spec = &own;
    for (size_t n = 0; n <= 2; n += 2) {
        struct task_spec task = {.id = "t", .command_line = "shown", .argv = words, .n_argv = n};
        container_wrap(a, &c, NULL, 0, &task);
        const struct env env = {.items = (struct kv *)(uintptr_t)task.env, .n = task.n_env};
        assert_string_equal(env_get(&env, "BATCHAI_COMMAND"),
                            n ? "exec '/bin/in it' '-c' 'a b'" : "exec '/bin/in it' ");
    }
}

/* The table of docs/machines.md. */
TEST(who_a_process_is_depends_on_runtime_agent_and_account)
{
    static const struct {
        const char *runtime;
        bool root, account, image;
        const char *who;
    } cases[] = {
        {"podman", true, true, false, "mapped"},     {"podman", true, true, true, "mapped"},
        {"podman", true, false, false, "image"},     {"podman", true, false, true, "image"},
        {"podman", false, false, false, "rootless"}, {"podman", false, false, true, "rootless"},
        {"docker", true, true, false, "account"},    {"docker", true, true, true, "root"},
        {"docker", true, false, false, "image"},     {"docker", true, false, true, "image"},
        {"docker", false, false, false, "agent"},    {"docker", false, false, true, "root"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct site site = {.image_users = cases[i].image};
        const struct container c = {.runtime = cases[i].runtime,
                                    .site = &site,
                                    .agent_is_root = cases[i].root,
                                    .user = cases[i].account ? "+job" : NULL};
        assert_string_equal(container_who(&c), cases[i].who);
    }
}

TEST(podman_comes_first_where_the_agent_is_root)
{
    static const char *const both = "docker podman";
    static const char *const order[] = {"docker", "podman"};
    const struct site told = {.container_runtimes = order, .n_container_runtimes = 2};
    assert_string_equal(container_runtime(NULL, both, true), "podman");
    assert_string_equal(container_runtime(NULL, "docker", true), "docker");
    assert_string_equal(container_runtime(NULL, both, false), "docker");
    assert_string_equal(container_runtime(NULL, "podman", false), "podman");
    assert_string_equal(container_runtime(&told, both, true), "docker");
    assert_null(container_runtime(NULL, "", true));
    assert_null(container_runtime(NULL, NULL, true));
}
