/* SPDX-License-Identifier: MIT
 *
 * Sites with machines for scheduler tests. Nothing listens where these machines are said to be, so
 * their nodes never become idle by themselves; tests that need it write it.
 */
#ifndef TEST_SCHEDULER_FAKE_SITE_H
#define TEST_SCHEDULER_FAKE_SITE_H

#include "scheduler/fleet/node/node_priv.h"
#include "scheduler/sched_priv.h"
#include "virtual.h"

/* --- sites ----------------------------------------------------------------------------------- */

#define MACHINES_MAX 40

/* A site, and the world of a test that takes place there. */
struct fake_site {
    struct world *w;
    struct site site;
    struct site_machine machines[MACHINES_MAX];
    struct site_group group; /* of the machines that let_answer() changes */
    struct site_mount_rule mount;
};

static const char *const nc6[] = {"STANDARD_NC6", NULL};
static const char *const any_size[] = {NULL};
static const struct site_group dedicated = {.user = "nobody",
                                            .password = "none",
                                            .node_root = "/nonexistent/root",
                                            .vm_sizes = nc6,
                                            .priority = VM_DEDICATED};
static const struct site_group cheap = {.user = "nobody",
                                        .password = "none",
                                        .node_root = "/nonexistent/root",
                                        .priority = VM_LOWPRIORITY};

/* Loaded once; the program keeps them until it ends. */
static inline struct node_agents *agents_of_sites(void)
{
    static struct node_agents *agents;
    const char *path = getenv("BATCHAI_NODE");
    const struct node_agent_file file = {"x86_64", path ? path : "build/batchai-node"};
    struct err e = {0};
    if (!agents)
        ok(node_agents_load(&file, 1, &agents, &e), &e);
    return agents;
}

/* Machines of these names, in order; those that begin with "low" are of the other group. */
static inline void fill_site(struct fake_site *f, const char *const *names)
{
    *f = (struct fake_site){.site = {.machines = f->machines,
                                     .known_hosts = "/nonexistent/known_hosts",
                                     .agents = agents_of_sites(),
                                     .connect_limit = 8,
                                     .connect_timeout_s = 5,
                                     .keepalive_s = 5,
                                     .dead_after_s = 15,
                                     .unusable_after_s = 3600,
                                     .health_interval_s = 3600}};
    for (size_t i = 0; names[i]; i++) {
        assert_in_range(i, 0, MACHINES_MAX - 1);
        f->machines[i] = (struct site_machine){
            names[i], "127.0.0.1", 1, strncmp(names[i], "low", 3) == 0 ? &cheap : &dedicated};
        f->site.n_machines++;
    }
}

#define SITE(f, ...) fill_site((f), (const char *const[]){__VA_ARGS__, NULL})

/* The machines are fake nodes, which answer to their names. The dedicated ones have any size. */
static inline void let_answer(struct fake_site *f)
{
    f->group = dedicated;
    f->group.vm_sizes = any_size;
    for (size_t i = 0; i < f->site.n_machines; i++) {
        f->machines[i].host = f->machines[i].name;
        if (f->machines[i].group == &dedicated)
            f->machines[i].group = &f->group;
    }
    f->mount = (struct site_mount_rule){.account = "*",
                                        .share = "*",
                                        .files = true,
                                        .blobs = true,
                                        .type = SITE_MOUNT_LOCAL,
                                        .source = "/nonexistent/{share}"};
    f->site.mounts = &f->mount;
    f->site.n_mounts = 1;
}

/* A world in real time, with local nodes besides. */
static inline struct fake_site *new_site(int local_nodes, const char *const *names)
{
    struct fake_site *f = xcalloc(1, sizeof *f);
    fill_site(f, names);
    f->w = world_at(local_nodes, &f->site);
    return f;
}

static inline void free_site(struct fake_site *f)
{
    world_free(f->w);
    free(f);
}

/* A test of the world `w` at the site `f`, which has machines of these names. */
#define SITE_TEST(name, local_nodes, ...)                                                          \
    FIXTURE_TEST(name, struct fake_site *, f,                                                      \
                 new_site(local_nodes, (const char *const[]){__VA_ARGS__, NULL}), free_site)

/* --- what there is ---------------------------------------------------------------------------- */

static inline int64_t add_gpu_cluster(struct world *w, const char *name, int target)
{
    return add_cluster(
        w, name, (struct cluster_wish){.scale = {.target = target}, .vm_size = "STANDARD_NC6"});
}

static inline const char *machine_name(struct world *w, int64_t id)
{
    const struct machine *m = machine_find(w->s->fleet, id);
    return m ? m->name : "local";
}

/* The machines of a cluster's nodes by ordinal: "m1 m2 ". */
static inline const char *machines_of(struct world *w, int64_t cluster)
{
    struct node *rows;
    const char *text = "";
    size_t n = nodes_of(w, cluster, &rows);
    for (size_t i = 0; i < n; i++)
        text = arena_printf(&w->a, "%s%s ", text, machine_name(w, rows[i].machine_id));
    return text;
}

static inline bool says(struct world *w, int64_t cluster, const char *words)
{
    return strstr(errors_of(w, cluster), words) != NULL;
}

static inline struct machine_view view_of(struct world *w, const char *name)
{
    struct machine_view *views;
    size_t n;
    struct err e = {0};
    ok(fleet_machines(sched_fleet(w->s), &w->a, &views, &n, &e), &e);
    for (size_t i = 0; i < n; i++)
        if (strcmp(views[i].name, name) == 0)
            return views[i];
    return (struct machine_view){.name = NULL};
}

static inline void drain(struct world *w, const char *machine, const char *reason)
{
    struct err e = {0};
    ok(fleet_machine_drain(sched_fleet(w->s), machine, reason, &e), &e);
}

static inline void undrain(struct world *w, const char *machine)
{
    struct err e = {0};
    ok(fleet_machine_undrain(sched_fleet(w->s), machine, &e), &e);
}

/* As if the node had been prepared. */
static inline void make_idle(struct world *w, int64_t cluster)
{
    struct node *rows;
    size_t n = nodes_of(w, cluster, &rows);
    for (size_t i = 0; i < n; i++) {
        struct err e = {0};
        const struct st_node_move m = {
            .id = rows[i].id, .from = rows[i].state, .to = NODE_IDLE, .now_us = time_now_us()};
        if (rows[i].state != NODE_IDLE)
            ok(st_node_move(w->st, &m, &e), &e);
    }
    sched_wake_pool(w->s, cluster);
}

#endif
