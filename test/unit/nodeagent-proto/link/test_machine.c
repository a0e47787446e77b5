/* SPDX-License-Identifier: MIT
 *
 * What a machine says of itself, and restarting it, through a local link with the real agent. What
 * the machine shows is arranged by the test: a private /proc/driver, programs in a PATH of its own,
 * lines of the kernel's log.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "lib/timefmt.h"
#include "nodeagent-proto/wire/message.h"
#include "test/unit/nodeagent-proto/link/fixture.h"

static struct node_health seen;
static char gpu_errors[4096];

static void on_health(void *ctx, const struct err *why, const struct node_health *h)
{
    keep_why(ctx, why);
    assert_non_null(h);
    seen = *h;
    snprintf(gpu_errors, sizeof gpu_errors, "%s", h->gpu_errors);
}

static void write_program(struct fixture *f, const char *relative, const char *text)
{
    char *path = in_root(f, relative), *dir = xstrdup(path);
    struct err e;
    *strrchr(dir, '/') = '\0';
    assert_int_equal(fs_mkdirs(dir, 0755, &e), 0);
    assert_int_equal(fs_write_atomic(path, text, strlen(text), 0755, &e), 0);
    free(dir);
}

/* PATH with a directory of the node root in front, for the agent that is started next. */
static char *put_in_path(struct fixture *f, const char *relative)
{
    char *dir = in_root(f, relative), path[8192], *old = xstrdup(getenv("PATH"));
    snprintf(path, sizeof path, "%s:%s", dir, old);
    assert_int_equal(setenv("PATH", path, 1), 0);
    return old;
}

static void restore_path(char *old)
{
    assert_int_equal(setenv("PATH", old, 1), 0);
    free(old);
}

static void parse_facts(struct fixture *f, struct arena *a, struct node_facts *out)
{
    struct err e;
    if (node_facts_parse(a, f->facts, out, &e) < 0)
        fail_msg("%s", e.msg);
}

LINK_TEST(test_facts_say_who_the_agent_is_and_what_it_finds)
{
    struct arena a;
    struct node_facts facts;
    arena_init(&a);
    write_program(f, "bin/mpirun", "#!/bin/sh\n");
    write_program(f, "bin/podman", "#!/bin/sh\n");
    write_program(f, "bin/docker", "#!/bin/sh\n");
    char *old = put_in_path(f, "bin"), *mpirun = in_root(f, "bin/mpirun"),
         *name = in_root(f, "docker.sock"), url[PATH_MAX];
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", name);
    snprintf(url, sizeof url, "unix://%s", name);
    setenv("DOCKER_HOST", url, 1);
    int docker = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(docker, (const struct sockaddr *)&to, sizeof to), 0);
    open_ready(f); /* the socket is there and nobody listens */
    close_link(f);
    parse_facts(f, &a, &facts);
    assert_string_equal(facts.runtimes, "podman");
    assert_int_equal(listen(docker, 1), 0);
    open_ready(f);
    restore_path(old);
    unsetenv("DOCKER_HOST");
    close(docker);
    parse_facts(f, &a, &facts);
    assert_string_equal(facts.runtimes, "docker podman");
    assert_string_equal(facts.mpi, mpirun);
    assert_int_equal(facts.is_root, geteuid() == 0);
    if (facts.is_root)
        assert_string_equal(facts.user, "root");
    assert_true(llabs(facts.time_us - time_now_us()) < 60 * 1000000LL);
    arena_free(&a);
}

/* By what the list holds, whatever their names look like. */
TEST(test_gpus_are_counted)
{
    static const struct {
        const char *gpus;
        int n; /* -1: refused */
    } cases[] = {
        {"[]", 0},
        {"[{\"bus\":\"0\"}]", 1},
        {"[{\"model\":\"a\\\"}, {[\"},{\"more\":[{},{}]},{}]", 3},
        {"[\"0\",\"1\"]", 2},
        {"{\"bus\":\"0\"}", -1},
        {"null", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena a;
        struct err e;
        struct node_facts got;
        arena_init(&a);
        const char *text = arena_printf(
            &a,
            "{\"version\":%d,\"cpus\":1,\"is_root\":false,\"gpus\":%s,\"agent_version\":\"1\","
            "\"hostname\":\"\",\"os\":\"\",\"arch\":\"\",\"incarnation\":\"\",\"boot_id\":\"\","
            "\"user\":\"\",\"runtimes\":\"\",\"mpi\":\"\",\"memory_bytes\":1,"
            "\"disk_free_bytes\":1,\"time_us\":1}",
            PROTOCOL_VERSION, cases[i].gpus);
        assert_int_equal(node_facts_parse(&a, text, &got, &e), cases[i].n < 0 ? -1 : 0);
        if (cases[i].n < 0)
            assert_string_equal(e.target, "gpus");
        else
            assert_int_equal(got.n_gpus, cases[i].n);
        arena_free(&a);
    }
}

TEST(test_facts_survive_being_kept_as_text)
{
    struct arena a;
    struct err e;
    struct node_facts back, f = {.agent_version = "1",
                                 .hostname = "gpu01",
                                 .os = "Linux",
                                 .arch = "x86_64",
                                 .incarnation = "i",
                                 .boot_id = "b",
                                 .cpus = 12,
                                 .memory_bytes = 1LL << 40,
                                 .disk_free_bytes = 7,
                                 .gpus = "[{\"bus\":\"0\",\"driver\":\"535.1\"}]",
                                 .user = "root",
                                 .is_root = true,
                                 .runtimes = "podman",
                                 .mpi = "",
                                 .time_us = 1234567890123456};
    arena_init(&a);
    char *text = node_facts_text(&f);
    assert_int_equal(node_facts_parse(&a, text, &back, &e), 0);
    memset(text, 'x', strlen(text)); /* nothing borrows from it */
    char *again = node_facts_text(&back), *first = node_facts_text(&f);
    assert_string_equal(again, first);
    assert_string_equal(back.gpus, f.gpus);
    assert_true(back.is_root && back.time_us == f.time_us && back.memory_bytes == 1LL << 40);
    assert_int_equal(node_facts_parse(&a, "{\"version\":1}", &back, &e), -1);
    assert_int_equal(node_facts_parse(&a, "no json", &back, &e), -1);
    assert_int_equal(e.code, ERR_PROTOCOL);
    arena_free(&a);
    free(text);
    free(again);
    free(first);
}

static void put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

#define KFD "/sys/class/kfd/kfd/topology/nodes"

/* As AMD's driver shows a CPU and two GPUs; the tenth comes after the second. */
static void show_amd(void)
{
    static const struct {
        const char *node, *name, *properties;
    } all[] = {{"0", "cpu\n", "cpu_cores_count 8\nsimd_count 0\n"},
               {"2", "gfx90a\n", "cpu_cores_count 0\nsimd_count 440\ndrm_render_minor 128\n"},
               {"10", "gfx942\n", "cpu_cores_count 0\nsimd_count 440\ndrm_render_minor 129\n"}};
    struct err e;
    char path[300];
    assert_int_equal(mount("none", "/sys/class", "tmpfs", 0, NULL), 0);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        snprintf(path, sizeof path, KFD "/%s/mem_banks/0", all[i].node);
        assert_int_equal(fs_mkdirs(path, 0755, &e), 0);
        snprintf(path, sizeof path, KFD "/%s/name", all[i].node);
        put(path, all[i].name);
        snprintf(path, sizeof path, KFD "/%s/properties", all[i].node);
        put(path, all[i].properties);
        snprintf(path, sizeof path, KFD "/%s/mem_banks/0/properties", all[i].node);
        put(path, "heap_type 1\nsize_in_bytes 68702699520\nflags 0\n");
    }
    assert_int_equal(fs_mkdirs("/sys/class/drm/renderD128/device", 0755, &e), 0);
    put("/sys/class/drm/renderD128/device/unique_id", "1f3cd9\n"); /* the other has none */
}

/* As the driver shows two of them. In a mount namespace of this process. */
static void show_gpus(void)
{
    struct err e;
    assert_int_equal(unshare(CLONE_NEWNS), 0);
    assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    assert_int_equal(mount("none", "/proc/driver", "tmpfs", 0, NULL), 0);
    assert_int_equal(fs_mkdirs("/proc/driver/nvidia/gpus/0000:3b:00.0", 0755, &e), 0);
    assert_int_equal(fs_mkdirs("/proc/driver/nvidia/gpus/0000:5e:00.0", 0755, &e), 0);
    put("/proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  560.28.03  Release Build\n"
        "GCC version:  gcc version 12.2.0\n");
    put("/proc/driver/nvidia/gpus/0000:3b:00.0/information",
        "Model: \t\t Tesla V100-PCIE-16GB\nIRQ:   \t\t 36\nGPU UUID: \t GPU-1\n");
    put("/proc/driver/nvidia/gpus/0000:5e:00.0/information",
        "Model: \t\t Tesla V100-PCIE-16GB\nIRQ:   \t\t 37\nGPU UUID: \t GPU-2\n"
        "Device Minor: \t 1\n");
    show_amd();
}

static void look_at_gpus(struct fixture *f)
{
    struct arena a;
    struct node_facts facts;
    show_gpus();
    arena_init(&a);
    open_ready(f);
    parse_facts(f, &a, &facts);
    assert_says(facts.gpus, "\"driver\":\"560.28.03\"", "\"model\":\"Tesla V100-PCIE-16GB\"",
                "GPU-1");
    assert_string_equal(
        facts.gpus,
        "[{\"index\":0,\"vendor\":\"nvidia\",\"bus\":\"0000:3b:00.0\",\"driver\":\"560.28.03\","
        "\"model\":\"Tesla V100-PCIE-16GB\",\"uuid\":\"GPU-1\"},"
        "{\"index\":1,\"vendor\":\"nvidia\",\"bus\":\"0000:5e:00.0\",\"driver\":\"560.28.03\","
        "\"model\":\"Tesla V100-PCIE-16GB\",\"uuid\":\"GPU-2\",\"minor\":1},"
        "{\"index\":0,\"vendor\":\"amd\",\"model\":\"gfx90a\",\"memory_bytes\":68702699520,"
        "\"render\":128,\"uuid\":\"1f3cd9\"},"
        "{\"index\":1,\"vendor\":\"amd\",\"model\":\"gfx942\",\"memory_bytes\":68702699520,"
        "\"render\":129}]");
    ASK(f, node_health(f->link, on_health, f));
    assert_int_equal(seen.gpus, 4);
    assert_int_equal(rename("/proc/driver/nvidia/gpus/0000:5e:00.0", "/proc/driver/gone"), 0);
    ASK(f, node_health(f->link, on_health, f));
    assert_int_equal(seen.gpus, 3); /* it fell off the bus */
    close_link(f);
    arena_free(&a);
}

/* A namespace cannot be left: a process of its own looks. Valgrind would judge it for what its
 * parent holds. */
TEST(test_gpus_are_what_the_driver_shows)
{
    struct fixture own;
    int status;
    if (geteuid() != 0 || access("/proc/driver", F_OK) < 0 || getenv("BATCHAID_SLOW_TOOL"))
        skip_because("needs root, and /proc/driver to mount over");
    pid_t pid = fork();
    if (pid == 0) {
        memset(&own, 0, sizeof own);
        fixture_begin(&own);
        look_at_gpus(&own);
        fixture_end(&own);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

READY_TEST(test_health_is_of_the_disk_and_the_clock)
{
    ASK(f, node_health(f->link, on_health, f));
    assert_string_equal(f->why.msg, "");
    assert_true(seen.disk_free_bytes > 0 && seen.disk_total_bytes >= seen.disk_free_bytes);
    assert_true(llabs(seen.time_us - time_now_us()) < 60 * 1000000LL);
    assert_string_equal(gpu_errors, "");
}

static void on_usage(void *ctx, const struct err *why, const struct node_usage *u)
{
    keep_why(ctx, why);
    assert_non_null(u);
    assert_true(u->cpu_ticks > 0 && u->memory_bytes > 0 && u->disk_bytes > 0);
    assert_true(llabs(u->time_us - time_now_us()) < 60 * 1000000LL);
}

READY_TEST(test_usage_is_of_the_machine)
{
    ASK(f, node_usage(f->link, on_usage, f));
    assert_string_equal(f->why.msg, "");
}

static void on_sample(void *ctx, const struct err *why, const struct node_sample *s)
{
    keep_why(ctx, why);
    assert_non_null(s);
    assert_true(s->memory_used > 0 && s->disk_free > 0 && s->disk_total >= s->disk_free);
}

READY_TEST(test_samples_are_of_the_machine)
{
    ASK(f, node_sample(f->link, true, on_sample, f));
    assert_string_equal(f->why.msg, "");
    ASK(f, node_sample(f->link, false, on_sample, f));
    assert_string_equal(f->why.msg, "");
}

/* A line without its end would wait for more. */
static void complain(int log, const char *line)
{
    assert_int_equal(write(log, line, strlen(line)), strlen(line));
}

LINK_TEST(test_what_the_gpu_driver_complains_of_is_told_once)
{
    int log = geteuid() != 0 ? -1 : open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
    if (log < 0)
        skip_because("needs root and /dev/kmsg");
    complain(log, "NVRM: Xid (PCI:0000:00:00): 1, batchaid's test: before the agent began\n");
    open_ready(f);
    ASK(f, node_health(f->link, on_health, f));
    assert_string_equal(gpu_errors, "");
    complain(log, "something else\n");
    complain(log, "NVRM: Xid (PCI:0000:00:00): 79, batchaid's test: GPU has fallen off the bus.\n");
    ASK(f, node_health(f->link, on_health, f));
    assert_string_equal(gpu_errors,
                        "NVRM: Xid (PCI:0000:00:00): 79, batchaid's test: GPU has fallen off the "
                        "bus.");
    ASK(f, node_health(f->link, on_health, f));
    assert_string_equal(gpu_errors, "");
    close(log);
}

ROOT_TEST(test_reboot_is_answered_and_then_done_by_the_program_in_path)
{
    struct stat st;
    char text[PATH_MAX + 64], *done = in_root(f, "rebooted");
    snprintf(text, sizeof text, "#!/bin/sh\necho \"$#\" > %s\n", done);
    write_program(f, "bin/reboot", text);
    char *old = put_in_path(f, "bin");
    open_ready(f);
    restore_path(old);
    ASK(f, node_ask(f->link, BARE_REQUEST(reboot), on_done, f));
    assert_string_equal(f->why.msg, "");
    WAIT(f, stat(done, &st) == 0 && file_has(f, "rebooted", "0\n"));
}
