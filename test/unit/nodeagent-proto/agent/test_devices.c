/* SPDX-License-Identifier: MIT
 *
 * Which GPUs the processes of a task may open: the devices of the others are found from the list of
 * GPUs, and the kernel refuses them to the task's cgroup, and to those below it.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/fs.h"
#include "nodeagent-proto/agent/cgroup.h"
#include "nodeagent-proto/agent/devices.h"
#include "nodeagent-proto/agent/gpus.h"
#include "test/unit/support/skip.h"
#include "test/unit/support/tests.h"

#define NVIDIA "[{\"index\":0,\"minor\":1},{\"index\":1,\"minor\":0},{\"index\":2,\"minor\":2}]"
#define AMD    "[{\"index\":0,\"render\":128},{\"index\":1,\"render\":129}]"

struct device_place {
    char dir[64];
};

static void make_node(const struct device_place *p, const char *name, dev_t device)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", p->dir, name);
    if (mknod(path, S_IFCHR | 0666, device) < 0)
        skip_because("devices cannot be made here: that needs root");
}

static int set_up(void **state)
{
    struct device_place *p = calloc(1, sizeof *p);
    snprintf(p->dir, sizeof p->dir, "/tmp/batchai-devices-XXXXXX");
    *state = p;
    return mkdtemp(p->dir) ? 0 : -1;
}

static int take_down(void **state)
{
    struct device_place *p = *state;
    int rc = fs_remove_tree(p->dir, NULL);
    free(p);
    return rc;
}

static void make_nvidia(const struct device_place *p)
{
    make_node(p, "nvidia0", makedev(195, 0));
    make_node(p, "nvidia1", makedev(195, 1));
    make_node(p, "nvidia2", makedev(195, 2));
}

#define PLACE_TEST(name) TEST_IN(name, const struct device_place *p, *state, set_up, take_down)

PLACE_TEST(test_the_others_are_found_by_their_minors)
{
    dev_t d[8];
    make_nvidia(p);
    assert_int_equal(gpus_others(NVIDIA, "0,2", p->dir, d, 8), 1);
    assert_int_equal(d[0], makedev(195, 0));
    assert_int_equal(gpus_others(NVIDIA, "1", p->dir, d, 8), 2);
    assert_int_equal(d[0], makedev(195, 1));
    assert_int_equal(d[1], makedev(195, 2));
    assert_int_equal(gpus_others(NVIDIA, "0,1,2", p->dir, d, 8), 0);
    assert_int_equal(gpus_others(NVIDIA, "", p->dir, d, 8), 3);
    assert_int_equal(gpus_others(NVIDIA, "", p->dir, d, 2), 2);
}

PLACE_TEST(test_amd_has_render_nodes)
{
    char dri[128];
    dev_t d[8];
    snprintf(dri, sizeof dri, "%s/dri", p->dir);
    assert_int_equal(mkdir(dri, 0755), 0);
    make_node(p, "dri/renderD128", makedev(226, 128));
    make_node(p, "dri/renderD129", makedev(226, 129));
    assert_int_equal(gpus_others(AMD, "0", p->dir, d, 8), 1);
    assert_int_equal(d[0], makedev(226, 129));
}

PLACE_TEST(test_what_has_no_device_is_passed_over)
{
    dev_t d[8];
    assert_int_equal(gpus_others(NVIDIA, "", p->dir, d, 8), 0);
    assert_int_equal(gpus_others("[{\"index\":0}]", "", p->dir, d, 8), 0);
    assert_int_equal(gpus_others("[]", "0", p->dir, d, 8), 0);
    assert_int_equal(gpus_others("no list", "0", p->dir, d, 8), 0);
}

/* 0, or why a process of the cgroup cannot open it. */
static int opening(const struct cgroup *g, const char *dir, const char *name)
{
    char path[128];
    bool inside;
    int status;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    pid_t pid = cgroup_fork(g, &inside);
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(inside ? (open(path, O_RDWR | O_CLOEXEC) < 0 ? errno : 0) : 255);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), 255);
    return WEXITSTATUS(status);
}

/* /dev/zero and /dev/full play GPUs that are not its own. */
PLACE_TEST(test_the_kernel_refuses_them_to_the_cgroup_alone)
{
    const struct task_limits none = {.cpus = 0};
    const dev_t denied[] = {makedev(1, 5), makedev(1, 7)};
    struct cgroup g, sub;
    struct cgroup_bases bases = {.n = 0};
    char below[512];
    cgroup_make(&bases, "devices-", p->dir + strlen("/tmp/"), &none, &g);
    cgroup_bases_free(&bases);
    if (!g.path) {
        skip_because("no cgroup v2 that may be written to");
        return;
    }
    if (devices_deny(g.path, denied, 2) < 0) {
        cgroup_remove(g.path);
        cgroup_free(&g);
        skip_because("the kernel takes no program for a cgroup's devices");
        return;
    }
    assert_int_equal(opening(&g, "/dev", "zero"), EPERM);
    assert_int_equal(opening(&g, "/dev", "full"), EPERM);
    assert_int_equal(opening(&g, "/dev", "null"), 0);
    assert_int_equal(opening(&g, "/dev", "urandom"), 0);
    make_node(p, "another-name-for-zero", makedev(1, 5));
    assert_int_equal(opening(&g, p->dir, "another-name-for-zero"), EPERM);
    sub = (struct cgroup){.path = below};
    snprintf(below, sizeof below, "%s/sub", g.path);
    assert_int_equal(mkdir(sub.path, 0755), 0);
    assert_int_equal(opening(&sub, "/dev", "zero"), EPERM);
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    close(fd);
    cgroup_remove(g.path);
    cgroup_free(&g);
}

PLACE_TEST(test_no_more_than_the_program_has_room_for)
{
    static dev_t many[DEVICES_MAX + 1];
    assert_int_equal(devices_deny("/nowhere", many, DEVICES_MAX + 1), -1);
    assert_int_equal(errno, E2BIG);
}
