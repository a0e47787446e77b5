/* SPDX-License-Identifier: MIT
 *
 * How command lines are run on the nodes of pools: by the image that a pool asks for, and what the
 * site wants.
 */
#include <stdlib.h>
#include <string.h>

#include "model/batch/images.h"
#include "scheduler/front/batch/front_priv.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/says.h"

#define LINUX "{\"virtualMachineConfiguration\":{\"nodeAgentSKUId\":\"batch.node.ubuntu 22.04\"}}"
#define WINDOWS                                                                                    \
    "{\"virtualMachineConfiguration\":{\"nodeAgentSKUId\":\"batch.node.windows amd64\"}}"
#define NAMED_SO                                                                                   \
    "{\"displayName\":\"batch.node.windows\",\"virtualMachineConfiguration\":"                     \
    "{\"nodeAgentSKUId\":\"batch.node.debian 11\"}}"

TEST(images_of_windows)
{
    assert_true(batch_pool_is_windows(WINDOWS));
    assert_true(batch_pool_is_windows("{\"cloudServiceConfiguration\":{\"osFamily\":\"5\"}}"));
    assert_false(batch_pool_is_windows(LINUX));
    assert_false(batch_pool_is_windows(NAMED_SO));
    assert_false(batch_pool_is_windows("{}"));
}

static size_t program(struct arena *a, bool commands, const char *doc, const char *line,
                      const char ***argv)
{
    const struct batch_front f = {.windows = {.commands = commands}};
    const struct batch_pool p = {.doc = doc};
    size_t n = batch_program(&f, a, &p, line, argv);
    assert_null((*argv)[n]);
    return n;
}

ARENA_TEST(command_lines)
{
    const char **argv;
    assert_int_equal(program(a, true, LINUX, "cmd /c \"echo a\"", &argv), 3);
    assert_string_equal(argv[0], "cmd"); /* a name like any other there */
    assert_string_equal(argv[2], "echo a");
    assert_int_equal(program(a, true, WINDOWS, "cmd /c \"echo a\"", &argv), 2);
    assert_string_equal(argv[0], TASK_CMD);
    assert_string_equal(argv[1], "cmd /c \"echo a\"");
    assert_int_equal(program(a, false, WINDOWS, "cmd /c \"echo a\"", &argv), 3);
    assert_string_equal(argv[0], TASK_NODE);
    assert_string_equal(argv[1], TASK_REFUSE);
    assert_says(argv[2], "batch.windows_commands");
}
