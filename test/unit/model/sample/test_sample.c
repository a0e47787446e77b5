/* SPDX-License-Identifier: MIT
 *
 * Samples: bounds of what machines say, copies, averages, and the states of GPUs.
 */
#include "model/sample/sample.h"
#include "test/unit/support/tests.h"

static struct node_sample with_gpus(int n)
{
    struct node_sample s;
    sample_clear(&s);
    s.n_gpus = n;
    s.gpus = calloc((size_t)n, sizeof *s.gpus);
    for (int i = 0; i < n; i++) {
        gpu_sample_clear(&s.gpus[i]);
        s.gpus[i].index = i;
    }
    return s;
}

TEST(what_cannot_be_is_unknown)
{
    struct node_sample s = with_gpus(1);
    s.cpu_permille = 1001;
    s.memory_used = -7;
    s.disk_free = INT64_MAX;
    s.network_in = 5;
    s.gpus[0].busy_permille = 1000;
    s.gpus[0].power_mw = INT64_MIN;
    s.gpus[0].temperature = 4000;
    s.gpus[0].listed = 1;
    s.gpus[0].processes[0] = (struct gpu_process){17, -2};
    sample_believe(&s);
    assert_int_equal(s.cpu_permille, SAMPLE_UNKNOWN);
    assert_int_equal(s.memory_used, SAMPLE_UNKNOWN);
    assert_int_equal(s.disk_free, SAMPLE_UNKNOWN);
    assert_int_equal(s.network_in, 5);
    assert_int_equal(s.pressure_io, SAMPLE_UNKNOWN);
    assert_int_equal(s.gpus[0].busy_permille, 1000);
    assert_int_equal(s.gpus[0].power_mw, SAMPLE_UNKNOWN);
    assert_int_equal(s.gpus[0].temperature, SAMPLE_UNKNOWN);
    assert_int_equal(s.gpus[0].processes[0].memory, SAMPLE_UNKNOWN);
    s.gpus[0].listed = SAMPLE_PROCESSES + 1;
    sample_believe(&s);
    assert_int_equal(s.gpus[0].listed, 0);
    sample_free(&s);
}

TEST(a_copy_is_its_own)
{
    struct node_sample s = with_gpus(2), copy = with_gpus(5);
    s.gpus[1].memory_used = 77;
    sample_copy(&copy, &s);
    sample_free(&s);
    assert_int_equal(copy.n_gpus, 2);
    assert_int_equal(copy.gpus[1].memory_used, 77);
    sample_free(&copy);
    assert_null(copy.gpus);
}

TEST(states_of_gpus)
{
    struct gpu_sample g;
    gpu_sample_clear(&g);
    assert_int_equal(gpu_state_of(&g, true, true), GPU_USED);
    assert_int_equal(gpu_state_of(NULL, true, true), GPU_USED);
    assert_int_equal(gpu_state_of(NULL, false, true), GPU_FREE);
    assert_int_equal(gpu_state_of(&g, false, true), GPU_FREE);
    g.busy_permille = 0;
    assert_int_equal(gpu_state_of(&g, true, true), GPU_IDLE);
    assert_int_equal(gpu_state_of(&g, false, true), GPU_FREE);
    g.busy_permille = 990;
    assert_int_equal(gpu_state_of(&g, true, true), GPU_BUSY);
    assert_int_equal(gpu_state_of(&g, false, true), GPU_BUSY);
    assert_int_equal(gpu_state_of(&g, true, false), GPU_UNUSABLE);
    assert_true(gpu_is_used_outside(&g, false));
    assert_false(gpu_is_used_outside(&g, true));
    g.busy_permille = 0;
    assert_false(gpu_is_used_outside(&g, false));
    g.n_processes = 1;
    assert_true(gpu_is_used_outside(&g, false));
    assert_false(gpu_is_used_outside(NULL, false));
    assert_string_equal(gpu_state_names[GPU_UNUSABLE], "unusable");
}

TEST(a_gpu_that_vanished)
{
    struct node_sample s = with_gpus(3);
    assert_false(sample_gpu_is_lost(&s, &s.gpus[1])); /* nothing is known of any */
    s.gpus[0].memory_total = 5;
    s.gpus[2].temperature = 0;
    assert_true(sample_gpu_is_lost(&s, &s.gpus[1]));
    assert_false(sample_gpu_is_lost(&s, &s.gpus[0]));
    assert_false(sample_gpu_is_lost(&s, &s.gpus[2]));
    assert_ptr_equal(sample_gpu(&s, 2), &s.gpus[2]);
    assert_null(sample_gpu(&s, 3));
    assert_null(sample_gpu(NULL, 0));
    sample_free(&s);
}

TEST(lists_of_gpus)
{
    assert_true(gpu_is_among("0,12", 12));
    assert_true(gpu_is_among("0,12", 0));
    assert_false(gpu_is_among("0,12", 1));
    assert_false(gpu_is_among("0,12", 2));
    assert_false(gpu_is_among("", 0));
    assert_false(gpu_is_among(",", 0));
    assert_false(gpu_is_among("x", 0));
}

TEST(averages_leave_out_what_nobody_knows)
{
    struct sample_mean *m = sample_mean_new();
    struct node_sample s = with_gpus(2), mean;
    s.at_us = 1000;
    s.cpu_permille = 100;
    s.gpus[0].busy_permille = 500;
    sample_mean_add(m, &s);
    s.at_us = 2000;
    s.cpu_permille = 201;
    s.gpus[0].busy_permille = SAMPLE_UNKNOWN;
    s.gpus[1].busy_permille = 7;
    sample_mean_add(m, &s);
    s.n_gpus = 0; /* both have vanished */
    s.cpu_permille = SAMPLE_UNKNOWN;
    sample_mean_add(m, &s);
    assert_int_equal(sample_mean_take(m, &mean), 3);
    assert_int_equal(mean.at_us, 1000);
    assert_int_equal(mean.cpu_permille, 151);
    assert_int_equal(mean.memory_used, SAMPLE_UNKNOWN);
    assert_int_equal(mean.n_gpus, 2);
    assert_int_equal(mean.gpus[0].busy_permille, 500);
    assert_int_equal(mean.gpus[1].busy_permille, 7);
    sample_free(&mean);
    assert_int_equal(sample_mean_take(m, &mean), 0);
    sample_mean_free(m);
    sample_free(&s);
}
