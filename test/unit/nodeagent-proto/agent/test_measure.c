/* SPDX-License-Identifier: MIT
 *
 * The files of a cgroup by which a task is measured, as the kernel writes them.
 */
#include <string.h>
#include <unistd.h>

#include "nodeagent-proto/agent/cgroup_files.h"
#include "nodeagent-proto/agent/measure.h"
#include "test/unit/support/tests.h"

TEST(test_processor_time_of_a_cgroup)
{
    struct cgroup_counts c = {0};
    cgroup_read_cpu("usage_usec 4512\nuser_usec 3500\nsystem_usec 1012\nnr_periods 0\n", &c);
    assert_int_equal(c.user_us, 3500);
    assert_int_equal(c.kernel_us, 1012);
}

TEST(test_transfers_of_a_cgroup_are_added_over_its_disks)
{
    struct cgroup_counts c = {0};
    cgroup_read_io("8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=5 dios=6\n"
                   "8:0 rbytes=90 wbytes=299 rios=8 wios=15 dbytes=0 dios=0\n",
                   &c);
    assert_int_equal(c.read_bytes, 1459290);
    assert_int_equal(c.write_bytes, 314773803);
    assert_int_equal(c.read_ops, 200);
    assert_int_equal(c.write_ops, 368);
    cgroup_read_io("", &c);
    assert_int_equal(c.read_bytes, 0);
}

TEST(test_version_1_has_other_files)
{
    struct cgroup_counts c = {0};
    assert_false(cgroup_read_cpu("nr_periods 0\nnr_throttled 0\nthrottled_time 0\n", &c));
    cgroup_read_cpuacct("user 150\nsystem 30\n", &c);
    int64_t tick_us = 1000000 / sysconf(_SC_CLK_TCK);
    assert_int_equal(c.user_us, 150 * tick_us);
    assert_int_equal(c.kernel_us, 30 * tick_us);
    cgroup_read_blkio("8:0 Read 4096\n8:0 Write 512\n8:0 Sync 4608\n8:0 Total 4608\n"
                      "8:16 Read 1\n8:16 Write 2\n8:16 Total 3\nTotal 4611\n",
                      "8:0 Read 7\n8:0 Write 5\n8:0 Total 12\nTotal 12\n", &c);
    assert_int_equal(c.read_bytes, 4097);
    assert_int_equal(c.write_bytes, 514);
    assert_int_equal(c.read_ops, 7);
    assert_int_equal(c.write_ops, 5);
}

#define VERSION_2 "30 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define VERSION_1                                                                                  \
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"                          \
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"                  \
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"                   \
    "36 31 0:33 /docker/7 /part rw,relatime - cgroup cgroup rw,blkio\n"

TEST(test_cgroups_of_version_2_are_in_one_directory)
{
    struct cgroup_files f;
    cgroup_files_find("0::/machine.slice/libpod-7.scope\n", VERSION_2, &f);
    assert_string_equal(f.memory, "/sys/fs/cgroup/machine.slice/libpod-7.scope");
    assert_string_equal(f.cpu, f.memory);
    assert_string_equal(f.io, f.memory);
    cgroup_files_free(&f);
}

/* Beside version 1, version 2 has what no hierarchy of version 1 has. A mount of a part says
 * nothing about the whole. */
TEST(test_cgroups_of_version_1_have_a_directory_each)
{
    struct cgroup_files f;
    cgroup_files_find("4:memory:/docker/7\n3:cpu,cpuacct:/docker/7\n2:blkio:/docker/7\n", VERSION_1,
                      &f);
    assert_string_equal(f.memory, "/sys/fs/cgroup/memory/docker/7");
    assert_string_equal(f.cpu, "/sys/fs/cgroup/cpu,cpuacct/docker/7");
    assert_null(f.io);
    cgroup_files_free(&f);
    cgroup_files_find("4:memory:/docker/7\n0::/docker/8\n", VERSION_1 VERSION_2, &f);
    assert_string_equal(f.memory, "/sys/fs/cgroup/memory/docker/7");
    assert_string_equal(f.cpu, "/sys/fs/cgroup/docker/8");
    cgroup_files_free(&f);
    cgroup_files_find("", VERSION_2, &f);
    assert_false(cgroup_files_any(&f));
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
