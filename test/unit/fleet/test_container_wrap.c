/* SPDX-License-Identifier: MIT
 *
 * A task of the job becomes one that executes in the job's container.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scheduler/fleet/container.h"

static const struct container_spec settings = {.image = "i"};
static const struct container container = {.spec = &settings,
                                           .runtime = "podman",
                                           .name = "batchai-G-1",
                                           .root = "/n",
                                           .job_dir = "/n/jobs/G-1",
                                           .log_path = "/n/jobs/G-1/execution.log"};

static const char *command_of(struct arena *a, const struct kv *own, size_t n_own)
{
    struct task_spec task = {.id = "t", .command_line = "run \"$A\""};
    container_wrap(a, &container, own, n_own, &task);
    const struct env env = {.items = (struct kv *)(uintptr_t)task.env, .n = task.n_env};
    return env_get(&env, "BATCHAI_COMMAND");
}

static void a_task_without_variables_is_its_command(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    assert_string_equal(command_of(&a, NULL, 0), "run \"$A\"");
    arena_free(&a);
}

static void variables_of_a_task_are_set_before_its_command(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a);
    static const struct kv own[] = {{.name = "A", .value = "it's $HOME"}, {.name = "B"}};
    assert_string_equal(command_of(&a, own, 2),
                        "export A='it'\\''s $HOME'\nexport B=''\nrun \"$A\"");
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_without_variables_is_its_command),
        cmocka_unit_test(variables_of_a_task_are_set_before_its_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
