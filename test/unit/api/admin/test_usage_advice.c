/* SPDX-License-Identifier: MIT
 *
 * The sentence of advice about what a job had and used.
 */
#include <string.h>

#include "api/admin/usage_json.h"
#include "api/http/request.h"
#include "test/unit/support/tests.h"

#define HOUR (3600 * INT64_C(1000))
#define GIB  INT64_C(1073741824)
#define CPU  (HOUR * 1000) /* one processor's time of an hour, in microseconds */
#define WELL "It used what it asked for."

static void check(const struct usage *rows, size_t n, struct usage_sums s, const char *text)
{
    struct request r = {.now_us = 0};
    s.attempts = s.attempts ? s.attempts : (int64_t)n;
    s.node_ms = s.node_ms ? s.node_ms : (int64_t)n * HOUR;
    arena_init(&r.arena);
    assert_string_equal(usage_advice(&r, rows, n, &s), text);
    arena_free(&r.arena);
}

/* Of a job that had one node for an hour. */
static void check_sums(struct usage_sums s, const char *text)
{
    const struct usage row = {.memory = 0};
    check(&row, 1, s, text);
}

static struct usage_sums gpus(int n, int64_t busy, int64_t idle)
{
    return (struct usage_sums){.gpu_ms = n * HOUR, .busy_ms = busy, .idle_ms = idle};
}

static struct usage_sums cores(int n, int64_t user_us)
{
    return (struct usage_sums){.core_ms = n * HOUR, .user_us = user_us};
}

TEST(test_what_has_no_use_yet)
{
    struct request r = {.now_us = 0};
    const struct usage_sums none = {.attempts = 0};
    assert_string_equal(usage_advice(&r, NULL, 0, &none),
                        "It has not ended, or it never got a node.");
    check_sums((struct usage_sums){.node_ms = 59999},
               "It held its nodes for less than a minute, too short for advice.");
    check_sums((struct usage_sums){.node_ms = 60000}, WELL);
}

TEST(test_gpus)
{
    check_sums(gpus(4, HOUR, 3 * HOUR), "It asked for 4 GPUs and used 1: ask for fewer.");
    check_sums(gpus(4, 0, 4 * HOUR), "It asked for 4 GPUs and used 0: ask for fewer.");
    check_sums(gpus(4, 2 * HOUR, 2 * HOUR), WELL);
    check_sums(gpus(4, 2 * HOUR - 60000, 2 * HOUR + 60000),
               "It asked for 4 GPUs and used 2: ask for fewer.");
    /* What samples saw stands for all of its time, from half of it on. */
    check_sums(gpus(4, HOUR / 2, 3 * HOUR / 2), "It asked for 4 GPUs and used 1: ask for fewer.");
    /* Fewer than one cannot be asked for. */
    check_sums(gpus(1, HOUR / 4, 3 * HOUR / 4), "It used 25% of its GPU time.");
    check_sums(gpus(1, 0, HOUR), "It used 0% of its GPU time.");
    check_sums(gpus(1, HOUR / 2, HOUR / 2), WELL);
}

TEST(test_gpus_are_those_of_each_node)
{
    const struct usage rows[2] = {{.rank = 0}, {.rank = 1}};
    check(rows, 2, gpus(8, 2 * HOUR, 6 * HOUR), "It asked for 4 GPUs and used 1: ask for fewer.");
}

TEST(test_gpus_that_were_hardly_sampled)
{
    static const char unknown[] =
        "Its GPUs were sampled for less than half of its time, so their use is not known.";
    check_sums(gpus(4, 0, 0), unknown);
    check_sums(gpus(4, 0, 2 * HOUR - 1), unknown);
    check_sums(gpus(4, 2 * HOUR - 1, 0), unknown);
}

TEST(test_lost_time)
{
    static const char lost[] = "It lost 1.2 of 4.0 GPU hours when it was put back into the queue: "
                               "save its state more often.";
    struct usage_sums s = gpus(4, 4 * HOUR, 0);
    s.lost_ms = HOUR * 12 / 10;
    check_sums(s, lost);
    s = gpus(4, HOUR, 3 * HOUR); /* before the advice to ask for fewer */
    s.lost_ms = HOUR * 12 / 10;
    check_sums(s, lost);
    s = gpus(4, 4 * HOUR, 0);
    s.lost_ms = HOUR - 1;
    check_sums(s, WELL);
}

static void check_memory(int64_t asked, int64_t used, const char *text)
{
    const struct usage rows[2] = {{.memory = asked, .used.memory_used = used},
                                  {.memory = asked * 2, .used.memory_used = used / 2}};
    check(rows, 2, cores(4, 2 * CPU), text);
    const struct usage turned[2] = {rows[1], rows[0]};
    check(turned, 2, cores(4, 2 * CPU), text);
}

TEST(test_memory)
{
    check_memory(100 * GIB, 97 * GIB,
                 "It used 97 of its 100 GiB of memory: ask for more, or it may be killed.");
    check_memory(100 * GIB, 95 * GIB, WELL);
    check_memory(100 * GIB, 50 * GIB, WELL);
    check_memory(100 * GIB, 30 * GIB, "Of its 100 GiB of memory it used at most 30: ask for less.");
    check_memory(3 * GIB / 2, GIB / 2,
                 "Of its 1.5 GiB of memory it used at most 0.5: ask for less.");
    check_memory(2048 * GIB, 300 * GIB,
                 "Of its 2048 GiB of memory it used at most 300: ask for less.");
    check_memory(2048 * GIB, 2000 * GIB,
                 "It used 2000 of its 2048 GiB of memory: ask for more, or it may be killed.");
    check_memory(100 * GIB, 0, WELL); /* not sampled */
    check_memory(0, 30 * GIB, WELL);  /* the node's own */
}

TEST(test_gpus_come_before_memory_and_memory_before_cores)
{
    const struct usage row = {.memory = 100 * GIB, .used.memory_used = 10 * GIB};
    struct usage_sums s = gpus(4, HOUR, 3 * HOUR);
    s.core_ms = 8 * HOUR;
    check(&row, 1, s, "It asked for 4 GPUs and used 1: ask for fewer.");
    s.busy_ms = 4 * HOUR;
    s.idle_ms = 0;
    check(&row, 1, s, "Of its 100 GiB of memory it used at most 10: ask for less.");
}

TEST(test_cores)
{
    static const char one_of_eight[] = "Of its 8 cores it used 1 on average: ask for fewer.";
    check_sums(cores(8, CPU), one_of_eight);
    struct usage_sums s = cores(8, CPU / 2);
    s.kernel_us = CPU / 2;
    check_sums(s, one_of_eight);
    check_sums(cores(8, 4 * CPU), WELL);
    check_sums(cores(1, 0), WELL);
    check_sums(cores(8, CPU / 100000), "Of its 8 cores it used 0 on average: ask for fewer.");
    check_sums(cores(256, 120 * CPU), "Of its 256 cores it used 120 on average: ask for fewer.");
    s = cores(8, CPU);
    s.unmeasured = 1; /* of one allocation: of its processors nothing is known */
    check_sums(s, "Its nodes did not measure its use.");
}
