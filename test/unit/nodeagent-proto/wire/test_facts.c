/* SPDX-License-Identifier: MIT
 *
 * What a node's list of GPUs tells.
 */
#include "nodeagent-proto/wire/facts.h"
#include "test/unit/support/arena_test.h"
#include "test/unit/support/tests.h"

#define SWAPPED "[{\"index\":0,\"minor\":1},{\"index\":1,\"minor\":0}]"
#define OF_AMD                                                                                     \
    "[{\"index\":0,\"vendor\":\"amd\",\"render\":128},"                                            \
    "{\"index\":1,\"vendor\":\"amd\",\"render\":129}]"

ARENA_TEST(test_the_devices_of_gpus)
{
    static const struct {
        const char *gpus, *numbers, *devices;
    } rows[] = {
        {SWAPPED, "0", "nvidia1"},
        {SWAPPED, NULL, "nvidia1 nvidia0"},
        {"[{\"index\":0},{\"index\":1}]", "1", "nvidia1"},
        {OF_AMD, "1", "dri/renderD129"},
        {"[{\"index\":0,\"vendor\":\"amd\"}]", NULL, ""},
        {"[]", NULL, ""},
        {NULL, NULL, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(node_gpu_devices(a, rows[i].gpus, rows[i].numbers), rows[i].devices);
}
