/* SPDX-License-Identifier: MIT
 *
 * The layout of a job's output.
 */
#include "model/run_output.h"
#include "test/unit/model/doc.h"
#include "test/unit/support/arena_test.h"

static struct directory_spec outputs[] = {
    {.id = "model", .path = "$AZ_BATCHAI_MOUNT_ROOT/afs", .suffix = "m/1"},
    {.id = "LOGS", .path = "logs"},
    {.id = "OLD", .path = "/data/old", .suffix = "x", .as_is = true},
    {.id = "PLAIN", .path = "/data", .as_is = true},
};
static const struct run_spec spec = {.std_prefix = "$AZ_BATCHAI_MOUNT_ROOT/std",
                                     .segment = "s/rg/jobs/j/guid",
                                     .outputs = outputs,
                                     .n_outputs = sizeof outputs / sizeof *outputs};

ARENA_TEST(each_output_has_its_directory)
{
    static const struct run_output expected[] = {
        {"stdouterr", "$AZ_BATCHAI_MOUNT_ROOT/std", "s/rg/jobs/j/guid/stdouterr", false},
        {"model", "$AZ_BATCHAI_MOUNT_ROOT/afs", "s/rg/jobs/j/guid/outputs/m/1", false},
        {"LOGS", "logs", "s/rg/jobs/j/guid/outputs", false},
        {"OLD", "/data/old", "x", true},
        {"PLAIN", "/data", "", true},
    };
    assert_int_equal(run_output_count(&spec), sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct run_output o = run_output_at(a, &spec, i);
        assert_string_equal(o.id, expected[i].id);
        assert_string_equal(o.prefix, expected[i].prefix);
        assert_string_equal(o.below, expected[i].below);
        assert_int_equal(o.as_is, expected[i].as_is);
        assert_int_equal(run_output_is_std(&o), i == 0);
    }
}

ARENA_TEST(outputs_are_found_by_their_id)
{
    struct run_output o;
    assert_true(run_output_find(a, &spec, "StdOutErr", &o) && run_output_is_std(&o));
    assert_true(run_output_find(a, &spec, "model", &o));
    assert_string_equal(o.id, "model");
    assert_false(run_output_find(a, &spec, "MODEL", &o)); /* ids are names of variables */
    assert_false(run_output_find(a, &spec, "", &o));
}
