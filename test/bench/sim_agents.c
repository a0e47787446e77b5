/* SPDX-License-Identifier: MIT
 *
 * For the bench alone: as many agents as there are connections to a Unix socket, in one process.
 *
 *     sim-agents SOCKET      prints "ready" once it listens; ends with its parent
 *
 * Each says what a machine with eight GPUs says that has nothing to do: facts to `hello`, its
 * health, samples, no tasks. What is run there ends at once, well, but for a command with the word
 * HOLDS, which never ends; any other request is a success.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <uv.h>

#include "lib/arena.h"
#include "lib/guid.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "lib/version.h"
#include "nodeagent-proto/wire/codec.h"
#include "nodeagent-proto/wire/message.h"
#include "nodeagent-proto/wire/sample.h"

#define BACKLOG 1024
#define GPUS    8
#define HOLDS   "sim-agents-hold"

static const int64_t disk_bytes = INT64_C(1) << 40;

struct bench_agent {
    uv_pipe_t pipe;
    struct frame_decoder in;
    char incarnation[GUID_SIZE], boot_id[GUID_SIZE];
    char read_buf[4096];
};

static void on_closed(uv_handle_t *handle)
{
    struct bench_agent *a = handle->data;
    frame_decoder_free(&a->in);
    free(a);
}

static void end(struct bench_agent *a)
{
    if (!uv_is_closing((uv_handle_t *)&a->pipe))
        uv_close((uv_handle_t *)&a->pipe, on_closed);
}

static void name_gpu(const struct bench_agent *a, int i, char uuid[SAMPLE_UUID_SIZE])
{
    snprintf(uuid, SAMPLE_UUID_SIZE, "GPU-%.8s-7657-7b1d-12f4-%012d", a->incarnation, i);
}

/* As the agent lists the GPUs of the driver. */
static char *list_gpus(const struct bench_agent *a)
{
    json_t *list = json_array();
    for (int i = 0; i < GPUS; i++) {
        char uuid[SAMPLE_UUID_SIZE];
        name_gpu(a, i, uuid);
        json_array_append_new(list, json_pack("{s:i, s:s, s:s, s:s, s:i}", "index", i, "vendor",
                                              "nvidia", "model", "NVIDIA H100 80GB HBM3", "uuid",
                                              uuid, "minor", i));
    }
    char *text = jsontext(list);
    json_decref(list);
    return text;
}

static json_t *facts(const struct bench_agent *a)
{
    char *list = list_gpus(a);
    const struct node_facts f = {.agent_version = BATCHAID_VERSION,
                                 .hostname = "simulated",
                                 .os = "Linux 6.1 (simulated)",
                                 .arch = "x86_64",
                                 .incarnation = a->incarnation,
                                 .boot_id = a->boot_id,
                                 .cpus = 16,
                                 .memory_bytes = disk_bytes / 8,
                                 .disk_free_bytes = disk_bytes,
                                 .gpus = list,
                                 .n_gpus = GPUS,
                                 .user = "batchai",
                                 .runtimes = "docker",
                                 .mpi = "",
                                 .time_us = time_now_us()};
    json_t *j = message_facts(&f);
    free(list);
    return j;
}

static json_t *health(void)
{
    const struct node_health h = {.disk_free_bytes = disk_bytes,
                                  .disk_total_bytes = disk_bytes,
                                  .disk_error = "",
                                  .gpus = GPUS,
                                  .gpu_errors = "",
                                  .time_us = time_now_us()};
    return message_health(&h);
}

/* All GPUs are busy. */
static json_t *sample(const struct bench_agent *a)
{
    enum { HALF = 500 };
    struct gpu_sample gpus[GPUS];
    struct node_sample s;
    sample_clear(&s);
    s.cpu_permille = HALF;
    s.memory_used = disk_bytes / 2;
    s.memory_total = s.disk_free = s.disk_total = disk_bytes;
    s.network_in = s.network_out = s.disk_read = s.disk_written = disk_bytes;
    s.pressure_cpu = s.pressure_memory = s.pressure_io = 1;
    s.n_gpus = GPUS;
    s.gpus = gpus;
    for (int i = 0; i < GPUS; i++) {
        gpu_sample_clear(&gpus[i]);
        gpus[i].index = i;
        name_gpu(a, i, gpus[i].uuid);
        gpus[i].busy_permille = gpus[i].temperature = HALF;
        gpus[i].memory_used = gpus[i].memory_total = disk_bytes;
        gpus[i].power_mw = gpus[i].ecc_errors = gpus[i].throttle = gpus[i].n_processes = HALF;
    }
    return message_sample(&s);
}

static bool is_run(json_t *req)
{
    return strcmp(json_string_value(json_object_get(req, "op")), "run") == 0;
}

static bool holds(json_t *req)
{
    const json_t *line = json_object_get(json_object_get(req, "task"), "command_line");
    return json_is_string(line) && strstr(json_string_value(line), HOLDS);
}

/* Of a task that was told to run. */
static json_t *status(json_t *req)
{
    const char *id = json_string_value(json_object_get(json_object_get(req, "task"), "id"));
    struct task_status s = {
        .id = id, .state = TASK_EXITED, .started_us = time_now_us(), .ended_us = time_now_us()};
    if (holds(req)) {
        s.state = TASK_RUNNING;
        s.ended_us = 0;
    }
    return message_task_status(&s);
}

static json_t *ended(json_t *req)
{
    return json_pack("{s:s, s:o}", "event", "task_ended", "task", status(req));
}

/* A new reference. */
static json_t *answer(const struct bench_agent *a, json_t *req)
{
    const char *op = json_string_value(json_object_get(req, "op"));
    json_t *reply = json_pack("{s:O, s:b}", "id", json_object_get(req, "id"), "ok", 1);
    if (strcmp(op, "hello") == 0)
        json_object_set_new(reply, "node", facts(a));
    else if (strcmp(op, "health") == 0)
        json_object_set_new(reply, "health", health());
    else if (strcmp(op, "sample") == 0)
        json_object_set_new(reply, "sample", sample(a));
    else if (strcmp(op, "tasks") == 0)
        json_object_set_new(reply, "tasks", json_array());
    else if (is_run(req))
        json_object_set_new(reply, "task", status(req));
    return reply;
}

/* Takes over `msg`. The daemon reads all the time and little is said: what does not go out at once
 * never will. */
static int say(struct bench_agent *a, json_t *msg)
{
    struct strbuf frame = STRBUF_INIT;
    struct err e;
    int rc = frame_encode(msg, &frame, &e);
    uv_buf_t buf = uv_buf_init(frame.s, (unsigned)frame.len);
    if (rc == 0 && uv_try_write((uv_stream_t *)&a->pipe, &buf, 1) != (int)frame.len)
        rc = -1;
    strbuf_free(&frame);
    json_decref(msg);
    return rc;
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct bench_agent *a = handle->data;
    (void)suggested;
    *buf = uv_buf_init(a->read_buf, sizeof a->read_buf);
}

static void on_bytes(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct bench_agent *a = stream->data;
    struct err e;
    json_t *req;
    int rc = n < 0 ? -1 : 1;
    if (n > 0)
        frame_decoder_feed(&a->in, buf->base, (size_t)n);
    while (rc > 0 && (rc = frame_decoder_next(&a->in, &req, &e)) > 0) {
        if (say(a, answer(a, req)) < 0)
            rc = -1;
        else if (is_run(req) && !holds(req) && say(a, ended(req)) < 0)
            rc = -1;
        json_decref(req);
    }
    if (rc < 0)
        end(a);
}

static void on_connection(uv_stream_t *server, int status)
{
    struct bench_agent *a = xcalloc(1, sizeof *a);
    uv_pipe_init(server->loop, &a->pipe, 0);
    a->pipe.data = a;
    guid_new(a->incarnation);
    guid_new(a->boot_id);
    frame_decoder_init(&a->in);
    if (status < 0 || uv_accept(server, (uv_stream_t *)&a->pipe) < 0)
        end(a);
    else
        (void)uv_read_start((uv_stream_t *)&a->pipe, on_alloc, on_bytes);
}

static void raise_descriptor_limit(void)
{
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        return;
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
}

int main(int argc, char **argv)
{
    static uv_pipe_t server;
    uv_loop_t *loop = uv_default_loop();
    if (argc != 2)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit();
    uv_pipe_init(loop, &server, 0);
    int rc = uv_pipe_bind(&server, argv[1]);
    if (rc == 0)
        rc = uv_listen((uv_stream_t *)&server, BACKLOG, on_connection);
    if (rc < 0) {
        fprintf(stderr, "sim-agents: %s: %s\n", argv[1], uv_strerror(rc));
        return 1;
    }
    puts("ready");
    fflush(stdout);
    return uv_run(loop, UV_RUN_DEFAULT);
}
