/* SPDX-License-Identifier: MIT
 *
 * What a task's containerSettings become: options that everybody may give, and registries.
 */
#include <string.h>

#include "model/batch/pool_spec.h"
#include "scheduler/front/batch/front_priv.h"
#include "test/unit/support/arena_test.h"

static struct batch_container logins[] = {
    {.server = "https://one.example/v2", .user = "u1", .password = "p1"},
    {.server = "two.example", .user = "u2", .password = "p2"},
};
static struct batch_pool_containers containers = {.registries = logins, .n_registries = 2};
static const struct batch_pool_spec pool_spec = {.containers = &containers};
static const struct batch_pool pool = {.doc = "{}"};

struct made_options {
    struct place_spec place;
    struct run_spec job;
};

static struct made_options make(struct arena *a, const struct batch_pool_spec *s,
                                const char *options, bool any)
{
    struct batch_container *c = arena_alloc(a, sizeof *c);
    *c = (struct batch_container){.image = "i", .options = options};
    struct made_options m = {.place = {.dir = "d"}};
    m.job.container = batch_container(a, &pool, s, c, any, &m.place);
    return m;
}

static const char *words_of(struct arena *a, const struct container_spec *c)
{
    const char *text = "";
    for (size_t i = 0; i < c->n_options; i++)
        text = arena_concat(a, text, "<", c->options[i], ">");
    return text;
}

ARENA_TEST(test_options)
{
    static const struct {
        const char *given, *kept; /* NULL: refused */
    } cases[] = {
        {NULL, ""},
        {"", ""},
        {"--rm -it --name x --pull=always --gpus all", ""},
        {"--env A=1 -e 'B=two words' --shm-size=1g",
         "<--env=A=1><--env=B=two words><--shm-size=1g>"},
        {"-eA=1 -e=B=2 -ite C", "<--env=A=1><--env=B=2><--env=C>"},
        {"--network none --init", "<--network=none><--init>"},
        {"--net=host --ipc private --ipc=", "<--net=host><--ipc=private><--ipc=>"},
        {"--workdir / -w/tmp", "<--workdir=/><--workdir=/tmp>"},
        {"--entrypoint /bin/sh --ulimit nofile=64", "<--entrypoint=/bin/sh><--ulimit=nofile=64>"},
        {"--user 1000 -u1:1", "<--user=1000><--user=1:1>"},
        {"--env --privileged", "<--env=--privileged>"}, /* a value */
        {"--privileged", NULL},
        {"-v /:/host", NULL},
        {"-v/:/host", NULL},
        {"-itv /:/host", NULL},
        {"-iv/:/host", NULL},
        {"--volume=/:/host", NULL},
        {"--env=A --mount type=bind,source=/,target=/host", NULL},
        {"--network container:other", NULL},
        {"--net=ns:/proc/1/ns/net", NULL},
        {"--ipc host", NULL},
        {"--ipc=container:other", NULL},
        {"--pid=private", "<--pid=private>"},
        {"--pid host", NULL},
        {"--restart always", NULL},
        {"--environment A", NULL},
        {"-zA=1", NULL},
        {"image", NULL},
        {"-", NULL},
        {"--", NULL},
        {"--env", NULL},
        {"-e", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct made_options m = make(a, &pool_spec, cases[i].given, false);
        if (cases[i].kept)
            assert_string_equal(words_of(a, m.job.container), cases[i].kept);
        assert_int_equal(m.place.refused, cases[i].kept ? FAIL_NONE : FAIL_NOT_SERVED);
    }
    const struct made_options m = make(a, &pool_spec, "--rm --privileged -v /:/host", true);
    assert_string_equal(words_of(a, m.job.container), "<--privileged><--volume=/:/host>");
    assert_int_equal(m.place.refused, FAIL_NONE);
    const struct made_options odd = make(a, &pool_spec, "--of-podman x --network ns:/n", true);
    assert_string_equal(words_of(a, odd.job.container), "<--of-podman><x><--network=ns:/n>");
    static const char *const never[] = {"--restart always", "--pid host", "--pid=container:other"};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        assert_int_equal(make(a, &pool_spec, never[i], true).place.refused, FAIL_NOT_SERVED);
}

/* What `docker create --help` names in its version 28, and the older words that it takes. */
ARENA_TEST(test_each_option_of_docker_is_somebodys)
{
    static const char names[] =
        "add-host annotation attach blkio-weight blkio-weight-device cap-add cap-drop "
        "cgroup-parent cgroupns cidfile cpu-count cpu-percent cpu-period cpu-quota cpu-rt-period "
        "cpu-rt-runtime cpu-shares cpus cpuset-cpus cpuset-mems device device-cgroup-rule "
        "device-read-bps device-read-iops device-write-bps device-write-iops disable-content-trust "
        "dns dns-option dns-search domainname entrypoint env env-file expose gpus group-add "
        "health-cmd health-interval health-retries health-start-interval health-start-period "
        "health-timeout help hostname init interactive io-maxbandwidth io-maxiops ip ip6 ipc "
        "isolation kernel-memory label label-file link link-local-ip log-driver log-opt "
        "mac-address memory memory-reservation memory-swap memory-swappiness mount name network "
        "network-alias no-healthcheck oom-kill-disable oom-score-adj pid pids-limit platform "
        "privileged publish publish-all pull quiet read-only restart rm runtime security-opt "
        "shm-size stop-signal stop-timeout storage-opt sysctl tmpfs tty ulimit use-api-socket "
        "user userns uts volume volume-driver volumes-from workdir detach detach-keys sig-proxy "
        "net dns-opt net-alias";
    char *rest = arena_strdup(a, names), *name;
    while ((name = strtok_r(rest, " ", &rest))) {
        const struct made_options m = make(a, &pool_spec, arena_concat(a, "--", name, "=1"), false);
        const char *why = m.place.why_refused;
        if (why && strstr(why, "not an option of docker"))
            fail_msg("%s", why);
    }
}

ARENA_TEST(test_what_options_say_of_the_command)
{
    const struct made_options m = make(a, &pool_spec, "-w /x -u me --entrypoint /e", false);
    assert_true(m.job.container->in_image);
    assert_string_equal(m.job.container->run_as, "me");
    assert_string_equal(m.job.container->entrypoint, "/e");
    assert_null(make(a, &pool_spec, "--entrypoint=", false).job.container->entrypoint);
}

ARENA_TEST(test_a_pool_must_have_containers)
{
    static const struct batch_pool_spec none = {.containers = NULL};
    const struct made_options m = make(a, &none, NULL, false);
    assert_int_equal(m.place.refused, FAIL_CONTAINER_RUNTIME_NOT_FOUND);
}

ARENA_TEST(test_whose_registry_an_image_is_from)
{
    static const struct batch_container own = {.server = "three.example", .user = "u3"};
    struct container_spec c;
    container_of_image(a, &containers, "one.example/app:1", NULL, &c);
    assert_string_equal(c.user, "u1");
    assert_string_equal(c.password, "p1");
    assert_string_equal(c.server, "one.example");
    container_of_image(a, &containers, "two.example/app", NULL, &c);
    assert_string_equal(c.user, "u2");
    container_of_image(a, &containers, "one.example.org/app", NULL, &c);
    assert_null(c.user);
    assert_null(c.server);
    container_of_image(a, &containers, "two.example/app", &own, &c);
    assert_string_equal(c.user, "u3");
    assert_string_equal(c.server, "three.example");
}
