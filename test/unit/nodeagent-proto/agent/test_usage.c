/* SPDX-License-Identifier: MIT
 *
 * What a machine does, out of the texts of /proc.
 */
#include "nodeagent-proto/agent/usage.h"
#include "test/unit/support/tests.h"

TEST(processors)
{
    struct node_usage u = {0}, old = {0}, none = {0};
    usage_read_stat("cpu  100 20 30 400 50 6 7 8 90 10\ncpu0 1 2 3 4\nintr 1 2\n", &u);
    assert_int_equal(u.cpu_ticks, 100 + 20 + 30 + 400 + 50 + 6 + 7 + 8);
    assert_int_equal(u.cpu_busy_ticks, 100 + 20 + 30 + 6 + 7 + 8);
    usage_read_stat("cpu  1 2 3 4\n", &old);
    assert_int_equal(old.cpu_ticks, 10);
    assert_int_equal(old.cpu_busy_ticks, 6);
    usage_read_stat("", &none);
    usage_read_stat("intr 7 8 9 10\n", &none);
    assert_int_equal(none.cpu_ticks, 0);
}

TEST(memory)
{
    struct node_usage u = {0}, none = {0};
    usage_read_memory("MemTotal:       1000 kB\nMemFree:  1 kB\nMemAvailable:    400 kB\n", &u);
    assert_int_equal(u.memory_bytes, 600 * 1024);
    usage_read_memory("MemTotal:       1000 kB\nMemFree:  1 kB\n", &none);
    assert_int_equal(none.memory_bytes, 0);
}

TEST(networks)
{
    struct node_usage u = {0};
    usage_read_network("Inter-|   Receive                                    |  Transmit\n"
                       " face |bytes packets errs drop fifo frame compressed multicast|bytes\n"
                       "    lo: 999 9 0 0 0 0 0 0 999 9 0 0 0 0 0 0\n"
                       "  eth0: 100 1 0 0 0 0 0 0 20 2 0 0 0 0 0 0\n"
                       "wlan0:5 1 0 0 0 0 0 0 7 2 0 0 0 0 0 0",
                       &u);
    assert_int_equal(u.network_in_bytes, 105);
    assert_int_equal(u.network_out_bytes, 27);
}

static bool is_sda(const char *name)
{
    return strcmp(name, "sda") == 0;
}

TEST(disks)
{
    struct node_usage u = {0};
    usage_read_disks("   7 0 loop0 1 2 3 4 5 6 7 8 9 10 11\n"
                     "   8 0 sda 10 2 30 4 50 6 70 8 9 10 11 12 13 14 15 16 17\n"
                     "   8 1 sda1 10 2 30 4 50 6 70 8 9 10 11\n",
                     is_sda, &u);
    assert_int_equal(u.disk_read_ops, 10);
    assert_int_equal(u.disk_read_bytes, 30 * 512);
    assert_int_equal(u.disk_write_ops, 50);
    assert_int_equal(u.disk_write_bytes, 70 * 512);
}

TEST(this_machine)
{
    struct node_usage before, after;
    usage_look("/", &before);
    usage_look("/", &after);
    assert_true(before.cpu_ticks > 0 && before.cpu_busy_ticks > 0);
    assert_true(after.cpu_ticks >= before.cpu_ticks && after.time_us >= before.time_us);
    assert_true(before.memory_bytes > 0 && before.disk_bytes > 0);
}
