/* SPDX-License-Identifier: MIT
 *
 * The lasting nvidia-smi: what it prints, and what becomes of one that hangs, dies, floods or lies.
 */
#include "nodeagent-proto/agent/gpu_lines.h"
#include "test/unit/nodeagent-proto/agent/gpu_world.h"

#define LINE(index, uuid, rest) index ", " uuid ", " rest
#define IDLE_LINE               LINE("0", UUID_0, "0, 0, 81559, 72.43, 39, 0, 0x0000000000000001")
#define BUSY_LINE               LINE("0", UUID_0, "97, 60000, 81559, 650.10, 71, 2, 0x0000000000000004")
#define MIG_LINE                                                                                   \
    LINE("1", UUID_1, "[N/A], 55, 81559, [Not Supported], ERR!, [N/A], [Unknown Error]")

TEST(a_line_of_a_gpu)
{
    struct gpu_sample g;
    assert_true(gpu_line_read(IDLE_LINE, &g));
    assert_int_equal(g.index, 0);
    assert_string_equal(g.uuid, UUID_0);
    assert_int_equal(g.busy_permille, 0);
    assert_int_equal(g.memory_used, 0);
    assert_int_equal(g.memory_total, 81559LL << 20);
    assert_int_equal(g.power_mw, 72430);
    assert_int_equal(g.temperature, 39);
    assert_int_equal(g.ecc_errors, 0);
    assert_int_equal(g.throttle, 1);
    assert_int_equal(g.n_processes, SAMPLE_UNKNOWN);
    assert_true(gpu_line_read(BUSY_LINE, &g));
    assert_int_equal(g.busy_permille, 970);
}

TEST(words_are_unknown_never_zero)
{
    struct gpu_sample g;
    assert_true(gpu_line_read(MIG_LINE, &g));
    assert_int_equal(g.busy_permille, SAMPLE_UNKNOWN);
    assert_int_equal(g.memory_used, 55LL << 20);
    assert_int_equal(g.power_mw, SAMPLE_UNKNOWN);
    assert_int_equal(g.temperature, SAMPLE_UNKNOWN);
    assert_int_equal(g.ecc_errors, SAMPLE_UNKNOWN);
    assert_int_equal(g.throttle, SAMPLE_UNKNOWN);
}

TEST(numbers_that_cannot_be_are_unknown)
{
    struct gpu_sample g;
    assert_true(gpu_line_read(
        LINE("0", UUID_0, "101, 99999999999999999999, 1e3, -5, 0x10, 1.5.2, 0x"), &g));
    assert_int_equal(g.busy_permille, SAMPLE_UNKNOWN);
    assert_int_equal(g.memory_used, SAMPLE_UNKNOWN);
    assert_int_equal(g.memory_total, SAMPLE_UNKNOWN);
    assert_int_equal(g.power_mw, SAMPLE_UNKNOWN);
    assert_int_equal(g.temperature, SAMPLE_UNKNOWN);
    assert_int_equal(g.ecc_errors, SAMPLE_UNKNOWN);
    assert_int_equal(g.throttle, SAMPLE_UNKNOWN);
    assert_true(gpu_line_read(LINE("0", UUID_0, "5, 1, 7, 1, 1, 1, 0x8000000000000004"), &g));
    assert_int_equal(g.throttle, SAMPLE_UNKNOWN);
    assert_true(gpu_line_read(LINE("0", UUID_0, "5, 999999999999999, 7, 1, 1, 1, 0x1"), &g));
    assert_int_equal(g.memory_used, SAMPLE_UNKNOWN);
    assert_true(gpu_line_read(LINE("0", UUID_0, "5, 1, 7, 1, 1, 1, 0xffffffffffffffff"), &g));
    assert_int_equal(g.throttle, SAMPLE_UNKNOWN);
}

TEST(other_lines_are_none)
{
    static const char *const lines[] = {
        "",
        ",",
        ",,,,,,,,",
        "No devices were found",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        LINE("0", UUID_0, "0, 0, 81559, 72.43, 39, 0"),
        LINE("0", UUID_0, "0, 0, 81559, 72.43, 39, 0, 0x1, 5"),
        LINE("-1", UUID_0, "0, 0, 81559, 72.43, 39, 0, 0x1"),
        LINE("64", UUID_0, "0, 0, 81559, 72.43, 39, 0, 0x1"),
        LINE("0", "GPU-", "0, 0, 81559, 72.43, 39, 0, 0x1"),
        LINE("0", "GPU-\033[31m", "0, 0, 81559, 72.43, 39, 0, 0x1"),
        LINE("0", "[N/A]", "0, 0, 81559, 72.43, 39, 0, 0x1"),
    };
    struct gpu_sample g;
    struct gpu_process p;
    char uuid[SAMPLE_UUID_SIZE];
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_false(gpu_line_read(lines[i], &g));
    assert_false(gpu_app_read(UUID_0 ", 0, 5", uuid, &p));
    assert_false(gpu_app_read(UUID_0 ", x, 5", uuid, &p));
    assert_false(gpu_app_read("1, 2, 3", uuid, &p));
    assert_true(gpu_app_read(UUID_0 ", 77, [N/A]", uuid, &p));
    assert_int_equal(p.pid, 77);
    assert_int_equal(p.memory, SAMPLE_UNKNOWN);
}

static bool has_two(const struct gpu_watch *w)
{
    return w->n_gpus == 2;
}

static bool knows_processes(const struct gpu_watch *w)
{
    return w->n_gpus > 0 && w->gpus[0].last.n_processes != SAMPLE_UNKNOWN && !w->listing.pid;
}

/* The second GPU may come after the first list of processes. */
static bool knows_both(const struct gpu_watch *w)
{
    return w->n_gpus == 2 && knows_processes(w) && w->gpus[1].last.n_processes != SAMPLE_UNKNOWN;
}

static bool tells(const struct gpu_watch *w)
{
    return *w->why != '\0';
}

static bool has_ended(const struct gpu_watch *w)
{
    return w->lasting.pid == 0;
}

static bool is_idle(const struct gpu_watch *w)
{
    return w->n_gpus > 0 && w->gpus[0].last.busy_permille == 0;
}

TEST_WITH(gpus_and_processes, struct gpu_world *, w, gpu_world_new(), gpu_world_free)
{
    gpu_program_is(w, "echo '" BUSY_LINE "'; echo '" MIG_LINE "'; exec /bin/sleep 1000",
                   "echo '" UUID_0 ", 4711, 59000'; echo garbage; echo 'GPU-00, 1, 1'");
    gpu_watch_want(&w->watch);
    gpu_until(w, knows_both);
    const struct gpu_sample *g = gpu_watch_find(&w->watch, UUID_0);
    assert_int_equal(g->busy_permille, 970);
    assert_int_equal(g->n_processes, 1);
    assert_int_equal(g->listed, 1);
    assert_int_equal(g->processes[0].pid, 4711);
    assert_int_equal(g->processes[0].memory, 59000LL << 20);
    assert_int_equal(gpu_watch_find(&w->watch, UUID_1)->n_processes, 0);
    assert_null(gpu_watch_find(&w->watch, "GPU-00"));
    pid_t pid = w->watch.lasting.pid;
    gpu_watch_stop(&w->watch);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_null(gpu_watch_find(&w->watch, UUID_0));
    assert_int_equal(gpu_watch_poll_timeout(&w->watch), -1);
    gpu_want_again(w);
    gpu_until(w, has_two);
    char *calls = gpu_calls(w);
    assert_non_null(
        strstr(calls, "clocks_event_reasons.active --format=csv,noheader,nounits -l 15"));
    assert_non_null(strstr(calls, "--query-compute-apps=gpu_uuid,pid,used_memory"));
    free(calls);
}

TEST_WITH(no_process_is_none_and_a_hang_says_nothing, struct gpu_world *, w, gpu_world_new(),
          gpu_world_free)
{
    gpu_program_is(w, "echo '" IDLE_LINE "'; exec /bin/sleep 1000", "true");
    gpu_watch_want(&w->watch);
    gpu_until(w, knows_processes);
    assert_int_equal(w->watch.gpus[0].last.n_processes, 0);
}

TEST_WITH(a_program_that_hangs, struct gpu_world *, w, gpu_world_new(), gpu_world_free)
{
    gpu_program_is(w, "exec /bin/sleep 1000", "true");
    w->watch.silence_ms = 100;
    gpu_watch_want(&w->watch);
    gpu_until(w, tells);
    assert_non_null(strstr(w->watch.why, "no line about a GPU for 45 s"));
    assert_true(has_ended(&w->watch));
    gpu_want_again(w);
    gpu_until(w, has_ended);
    gpu_watch_want(&w->watch); /* but not the third */
    assert_true(has_ended(&w->watch));
    assert_null(gpu_watch_find(&w->watch, UUID_0));
}

/* Also an old driver, which does not know the new name of a field. */
TEST_WITH(a_program_that_dies, struct gpu_world *, w, gpu_world_new(), gpu_world_free)
{
    gpu_program_is(
        w,
        "case \"$1\" in *event*) echo 'Field \"x\" is not a valid field'; exit 2;; esac; "
        "echo '" IDLE_LINE "'; exec /bin/sleep 1000",
        "true");
    gpu_watch_want(&w->watch);
    gpu_until(w, has_ended);
    assert_string_equal(w->watch.why, "");
    gpu_want_again(w);
    gpu_until(w, is_idle);
    assert_string_equal(w->watch.why, "");
    gpu_watch_stop(&w->watch);
    gpu_program_is(w, "printf 'No devices\\033[31m were found\\n'; exit 6", "true");
    gpu_want_again(w);
    gpu_until(w, has_ended);
    gpu_want_again(w);
    gpu_until(w, tells);
    assert_string_equal(w->watch.why, "nvidia-smi ends: 'No devices?[31m were found'");
    assert_true(has_ended(&w->watch));
    assert_true(w->watch.retry_ms > monotonic_ms() + 5000);
}

TEST_WITH(a_program_that_floods, struct gpu_world *, w, gpu_world_new(), gpu_world_free)
{
    gpu_program_is(w, "exec /usr/bin/yes '" BUSY_LINE "'", "true");
    gpu_watch_want(&w->watch);
    gpu_until(w, tells);
    assert_non_null(strstr(w->watch.why, "more than 1 MiB"));
    assert_true(has_ended(&w->watch));
}

/* A line of 900 KB, one with a NUL, and a good line. */
TEST_WITH(lines_of_garbage, struct gpu_world *, w, gpu_world_new(), gpu_world_free)
{
    gpu_program_is(
        w,
        "/usr/bin/head -c 900000 /dev/zero | /usr/bin/tr '\\0' x; echo; printf 'a\\0b\\n'; "
        "echo '" IDLE_LINE "'; exec /bin/sleep 1000",
        "exec /bin/sleep 1000");
    gpu_watch_want(&w->watch);
    gpu_until(w, is_idle);
    assert_string_equal(w->watch.why, "");
    assert_int_equal(w->watch.n_gpus, 1);
}

TEST_WITH(without_the_program, struct gpu_world *, w, gpu_world_new(), gpu_world_free)
{
    gpu_watch_want(&w->watch);
    if (!w->watch.lasting.pid) /* else this machine has one */
        assert_string_equal(w->watch.why, "");
}
