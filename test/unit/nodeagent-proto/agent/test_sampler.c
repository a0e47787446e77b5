/* SPDX-License-Identifier: MIT
 *
 * Samples of the machine: rates, pressure, and the GPUs of both makers in one list.
 */
#include "nodeagent-proto/agent/sampler.h"
#include "nodeagent-proto/wire/sample.h"
#include "test/unit/nodeagent-proto/agent/gpu_world.h"

TEST(pressure)
{
    assert_int_equal(sampler_read_stall("some avg10=0.00 avg60=0.12 avg300=0.05 total=4711\n"
                                        "full avg10=0.00 avg60=0.00 avg300=0.00 total=12\n"),
                     4711);
    assert_int_equal(sampler_read_stall("some avg10=0.00\nfull total=12\n"), SAMPLE_UNKNOWN);
    assert_int_equal(sampler_read_stall("full total=12\n"), SAMPLE_UNKNOWN);
    assert_int_equal(sampler_read_stall("some total=-3\n"), SAMPLE_UNKNOWN);
    assert_int_equal(sampler_read_stall(""), SAMPLE_UNKNOWN);
}

TEST(rates)
{
    struct sampler_counts before = {.at_us = 1000000,
                                    .usage = {.cpu_ticks = 100,
                                              .cpu_busy_ticks = 50,
                                              .network_in_bytes = 1000,
                                              .disk_read_bytes = 500},
                                    .stalled_us = {0, SAMPLE_UNKNOWN, 100}},
                          now = {.at_us = 3000000,
                                 .usage = {.cpu_ticks = 300,
                                           .cpu_busy_ticks = 100,
                                           .network_in_bytes = 5000,
                                           .disk_read_bytes = 499},
                                 .stalled_us = {1000000, 5, 50}};
    struct node_sample s;
    sample_clear(&s);
    sampler_compare(&(struct sampler_counts){0}, &now, &s);
    assert_int_equal(s.cpu_permille, SAMPLE_UNKNOWN);
    sampler_compare(&before, &now, &s);
    assert_int_equal(s.cpu_permille, 250);
    assert_int_equal(s.network_in, 2000);
    assert_int_equal(s.disk_read, SAMPLE_UNKNOWN); /* it counts from 0 again */
    assert_int_equal(s.pressure_cpu, 500);
    assert_int_equal(s.pressure_memory, SAMPLE_UNKNOWN);
    assert_int_equal(s.pressure_io, SAMPLE_UNKNOWN);
}

static void write_text(const char *dir, const char *name, const char *text)
{
    char *path = fs_join(dir, name);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    free(path);
}

static void make_amd(const char *drm)
{
    char device[160], sensors[200];
    snprintf(device, sizeof device, "%s/renderD128/device", drm);
    snprintf(sensors, sizeof sensors, "%s/hwmon/hwmon3", device);
    assert_int_equal(fs_mkdirs(sensors, 0755, NULL), 0);
    write_text(device, "gpu_busy_percent", "42\n");
    write_text(device, "mem_info_vram_used", "1048576\n");
    write_text(device, "unique_id", "0x1f3c\n");
    write_text(sensors, "power1_average", "150500000\n");
    write_text(sensors, "temp1_input", "61000\n");
}

TEST_WITH(gpus_of_both_makers, struct gpu_world *, w, gpu_world_new(), gpu_world_free)
{
    static const char list[] = "[{\"vendor\":\"nvidia\",\"uuid\":\"" UUID_0 "\"},"
                               "{\"vendor\":\"nvidia\",\"uuid\":\"" UUID_1 "\"},"
                               "{\"vendor\":\"amd\",\"index\":0,\"render\":128},"
                               "{\"vendor\":\"amd\",\"index\":1,\"render\":129},{}]";
    struct gpu_sample gpus[SAMPLE_GPUS];
    struct node_sample s;
    make_amd(w->dir);
    w->watch.n_gpus = 2; /* the driver does not show the second any more, and one is not listed */
    for (int i = 0; i < 2; i++) {
        gpu_sample_clear(&w->watch.gpus[i].last);
        w->watch.gpus[i].at_ms = monotonic_ms();
    }
    memcpy(w->watch.gpus[0].last.uuid, UUID_0, sizeof UUID_0);
    memcpy(w->watch.gpus[1].last.uuid, "GPU-77", sizeof "GPU-77");
    w->watch.gpus[0].last.busy_permille = 1000;
    sample_clear(&s);
    s.gpus = gpus;
    sampler_add_gpus(&w->watch, list, w->dir, &s);
    assert_int_equal(s.n_gpus, 6);
    for (int i = 0; i < s.n_gpus; i++)
        assert_int_equal(s.gpus[i].index, i);
    assert_int_equal(gpus[0].busy_permille, 1000);
    assert_string_equal(gpus[1].uuid, UUID_1);
    assert_int_equal(gpus[1].busy_permille, SAMPLE_UNKNOWN);
    assert_string_equal(gpus[2].uuid, "0x1f3c");
    assert_int_equal(gpus[2].busy_permille, 420);
    assert_int_equal(gpus[2].memory_used, 1048576);
    assert_int_equal(gpus[2].memory_total, SAMPLE_UNKNOWN);
    assert_int_equal(gpus[2].power_mw, 150500);
    assert_int_equal(gpus[2].temperature, 61);
    assert_int_equal(gpus[3].busy_permille, SAMPLE_UNKNOWN);
    assert_string_equal(gpus[5].uuid, "GPU-77");
    w->watch.gpus[0].at_ms -= 46000;
    s.n_gpus = 0;
    sampler_add_gpus(&w->watch, list, w->dir, &s);
    assert_int_equal(gpus[0].busy_permille, SAMPLE_UNKNOWN);
}

TEST_WITH(this_machine, struct gpu_world *, w, gpu_world_new(), gpu_world_free)
{
    struct sampler *s = calloc(1, sizeof *s);
    struct sample_read *out = calloc(1, sizeof *out), *back = calloc(1, sizeof *back);
    struct err e;
    out->s.gpus = out->gpus;
    gpu_program_is(w, "exec /bin/sleep 1000", "true");
    sampler_take(s, "/", "[]", true, &out->s);
    assert_true(s->gpus.lasting.pid > 0);
    assert_int_equal(out->s.cpu_permille, SAMPLE_UNKNOWN);
    assert_true(out->s.disk_free > 0 && out->s.disk_total > out->s.disk_free);
    assert_true(out->s.memory_used > 0 && out->s.memory_total > out->s.memory_used);
    int64_t from = monotonic_ms();
    while (monotonic_ms() - from < 50) /* some ticks of the clock */
        ;
    sampler_take(s, "/", "[]", false, &out->s);
    assert_int_equal(s->gpus.lasting.pid, 0);
    assert_true(out->s.cpu_permille >= 0 && out->s.network_in >= 0);
    json_t *j = message_sample(&out->s);
    assert_int_equal(message_sample_read(j, back, &e), 0);
    assert_int_equal(back->s.disk_free, out->s.disk_free);
    assert_int_equal(back->s.cpu_permille, out->s.cpu_permille);
    json_decref(j);
    sampler_close(s);
    free(s);
    free(out);
    free(back);
}

TEST(samples_of_hostile_agents)
{
    static const char *const refused[] = {
        "{}",
        "{\"gpus\":7}",
        "{\"gpus\":[7]}",
        "{\"gpus\":[],\"cpu_permille\":\"x\"}",
        "{\"gpus\":[],\"cpu_permille\":1.5}",
        "{\"gpus\":[],\"why\":7}",
        "{\"gpus\":[{\"index\":64,\"uuid\":\"\"}]}",
        "{\"gpus\":[{\"index\":-1,\"uuid\":\"\"}]}",
        "{\"gpus\":[{\"index\":0,\"uuid\":"
        "\"0123456789012345678901234567890123456789012345678901234567890123\"}]}",
        "{\"gpus\":[{\"index\":0,\"uuid\":\"\",\"listed\":{}}]}",
        "{\"gpus\":[{\"index\":0,\"uuid\":\"\",\"listed\":[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8]}]}",
    };
    struct sample_read *out = calloc(1, sizeof *out);
    struct err e;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        json_t *j = json_loads(refused[i], 0, NULL);
        assert_non_null(j);
        assert_int_equal(message_sample_read(j, out, &e), -1);
        json_decref(j);
    }
    json_t *j = json_loads("{\"cpu_permille\":-5,\"memory_used\":9223372036854775807,\"gpus\":[{"
                           "\"index\":3,\"uuid\":\"u\",\"busy_permille\":1001,\"power_mw\":1,"
                           "\"listed\":[{\"pid\":5,\"memory\":-9}]}]}",
                           0, NULL);
    assert_int_equal(message_sample_read(j, out, &e), 0);
    assert_int_equal(out->s.cpu_permille, SAMPLE_UNKNOWN);
    assert_int_equal(out->s.memory_used, SAMPLE_UNKNOWN);
    assert_int_equal(out->gpus[0].busy_permille, SAMPLE_UNKNOWN);
    assert_int_equal(out->gpus[0].power_mw, 1);
    assert_int_equal(out->gpus[0].listed, 1);
    assert_int_equal(out->gpus[0].processes[0].memory, SAMPLE_UNKNOWN);
    json_decref(j);
    free(out);
}
