/* SPDX-License-Identifier: MIT
 *
 * A world with machines: one real sshd of the test's own on a loopback port, and an inventory that
 * names it, or ports where nothing useful answers. Tests are skipped where there is no sshd.
 */
#ifndef TEST_SCHEDULER_RACK_H
#define TEST_SCHEDULER_RACK_H

#include "world.h"

#include <pwd.h>

#include "scheduler/fleet/node/node_priv.h"
#include "scheduler/sched_priv.h"
#include "test/unit/support/skip.h"
#include "test/unit/support/sshd.h"

#define MACHINES_MAX 2

struct rack {
    struct world *w;
    pid_t sshd;
    int port;
    char user[64], *host_key;
    struct site_group group;
    struct site_machine machines[MACHINES_MAX];
    struct site_mount_rule mount;
    struct site site;
    struct node_agents *agents;
};

static inline void sshd_start(struct rack *r)
{
    struct world *w = r->w;
    const char *conf = path(w, "sshd_config");
    put_file(conf, arena_printf(&w->a,
                                "ListenAddress 127.0.0.1:%d\nHostKey %s\nPidFile none\n"
                                "AuthorizedKeysFile %s\nStrictModes no\nUsePAM no\n"
                                "PermitRootLogin yes\nSetEnv HOME=%s\n",
                                r->port, r->host_key, path(w, "id_ed25519.pub"), w->dir));
    char *const argv[] = {SSHD, "-D", "-e", "-f", (char *)conf, NULL};
    r->sshd = spawn(argv, path(w, "sshd.log"));
    WAIT(w, answers(r->port));
}

/* The network to the machine is gone: the listening sshd, and what serves connections. Tasks go on.
 */
static inline void sshd_stop(struct rack *r)
{
    if (r->sshd)
        signal_connections(r->sshd, SIGKILL);
    reap(r->sshd, SIGKILL);
    r->sshd = 0;
}

static inline void site_fill(struct rack *r, int n)
{
    struct world *w = r->w;
    static const char *const no_sizes[] = {NULL};
    r->group = (struct site_group){.user = r->user,
                                   .identity = path(w, "id_ed25519"),
                                   .node_root = path(w, "root"),
                                   .vm_sizes = no_sizes,
                                   .priority = VM_DEDICATED,
                                   .health_interval_s = 1};
    for (int i = 0; i < n; i++)
        r->machines[i] = (struct site_machine){.name = arena_printf(&w->a, "m%02d", i),
                                               .host = "127.0.0.1",
                                               .port = r->port,
                                               .group = &r->group};
    r->mount = (struct site_mount_rule){.account = "*",
                                        .share = "*",
                                        .files = true,
                                        .blobs = true,
                                        .type = SITE_MOUNT_LOCAL,
                                        .source = path(w, "storage/{account}/files/{share}")};
    r->site = (struct site){.machines = r->machines,
                            .n_machines = (size_t)n,
                            .mounts = &r->mount,
                            .n_mounts = 1,
                            .known_hosts = path(w, "known_hosts"),
                            .agents = r->agents,
                            .connect_limit = 4,
                            .connect_timeout_s = 10,
                            .keepalive_s = 1,
                            .dead_after_s = 10,
                            .unusable_after_s = 600,
                            .health_interval_s = 1,
                            .max_clock_skew_s = 5};
}

/* `n` machines, all behind the same port; sshd_start() makes it answer. The inventory may be
 * changed until rack_start(). */
static inline struct rack *rack_new(int n)
{
    struct rack *r = xcalloc(1, sizeof *r);
    struct err e;
    if (!have_sshd())
        skip_because("no sshd");
    struct world *w = r->w = world_new(0);
    world_stop(w);
    const struct node_agent_file file = {machine(), w->agent};
    ok(node_agents_load(&file, 1, &r->agents, &e), &e);
    snprintf(r->user, sizeof r->user, "%s", getpwuid(geteuid())->pw_name);
    r->host_key = arena_strdup(&w->a, path(w, "host_key"));
    make_key(r->host_key, NULL);
    make_key(path(w, "id_ed25519"), NULL);
    r->port = free_port(NULL);
    site_fill(r, n);
    return r;
}

static inline void rack_start(struct rack *r)
{
    r->w->site = &r->site;
    world_start(r->w);
}

/* The machines answer, and the daemon starts. */
static inline void rack_up(struct rack *r)
{
    sshd_start(r);
    rack_start(r);
}

static inline void rack_free(struct rack *r)
{
    world_free(r->w);
    sshd_stop(r);
    node_agents_free(r->agents);
    free(r);
}

/* A test of the world `w` of the rack `r`, which has so many machines. Nothing is started yet. */
#define RACK_TEST(name, n) FIXTURE_TEST(name, struct rack *, r, rack_new(n), rack_free)

/* --- what tests look at --------------------------------------------------------------------- */

static inline struct node_rt *node_of(struct world *w, int64_t cluster, size_t i)
{
    return node_rt_find(w->s->fleet, node_row(w, cluster, i).id);
}

/* Says "twice" if it runs while another does, "begin", and goes on until the file `go` is there. */
#define ALONE_UNTIL_GO                                                                             \
    "cd $AZ_BATCHAI_MOUNT_ROOT/share; exec 9>lock; flock -n 9 || echo twice >> twice; "            \
    "echo begin; until test -f go; do sleep 0.02; done; echo end"

static inline bool ran_twice(struct world *w)
{
    return access(path(w, "storage/acct/files/share/twice"), F_OK) == 0;
}

/* Whether a job holds the lock of ALONE_UNTIL_GO, as the kernel says. */
static inline bool runs(struct world *w)
{
    int fd = open(path(w, "storage/acct/files/share/lock"), O_RDWR | O_CLOEXEC);
    struct stat st;
    char inode[32], *text;
    if (fd < 0)
        return false;
    assert_int_equal(fstat(fd, &st), 0);
    close(fd);
    snprintf(inode, sizeof inode, ":%llu ", (unsigned long long)st.st_ino);
    assert_int_equal(fs_read("/proc/locks", 1 << 20, &text, NULL, NULL), 0);
    bool held = strstr(text, inode) != NULL;
    free(text);
    return held;
}

#endif
