/* SPDX-License-Identifier: MIT
 *
 * The files of a cgroup by which a task is measured, as the kernel writes them.
 */
#include <string.h>

#include "nodeagent-proto/agent/measure.h"
#include "test/unit/support/tests.h"

TEST(test_processor_time_of_a_cgroup)
{
    struct measure_counts c = {0};
    measure_read_cpu("usage_usec 4512\nuser_usec 3500\nsystem_usec 1012\nnr_periods 0\n", &c);
    assert_int_equal(c.user_us, 3500);
    assert_int_equal(c.kernel_us, 1012);
}

TEST(test_transfers_of_a_cgroup_are_added_over_its_disks)
{
    struct measure_counts c = {0};
    measure_read_io("8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=5 dios=6\n"
                    "8:0 rbytes=90 wbytes=299 rios=8 wios=15 dbytes=0 dios=0\n",
                    &c);
    assert_int_equal(c.read_bytes, 1459290);
    assert_int_equal(c.write_bytes, 314773803);
    assert_int_equal(c.read_ops, 200);
    assert_int_equal(c.write_ops, 368);
    measure_read_io("", &c);
    assert_int_equal(c.read_bytes, 0);
}

TEST(test_a_task_is_told_only_after_its_end)
{
    struct measure m;
    struct task_status s = {.exit_code = 0};
    measure_begin(&m, NULL);
    measure_tell(&m, &s);
    assert_false(s.measured);
    measure_stop(&m);
    measure_tell(&m, &s);
    assert_true(s.measured);
    assert_true(s.user_us >= 0 && s.memory_peak >= 0);
}
