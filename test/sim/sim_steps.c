/* SPDX-License-Identifier: MIT
 *
 * What happens in a history: requests as the front would make them, and trouble.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/guid.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/run/runs.h"
#include "storage/storage_priv.h"
#include "test/sim/sim_steps.h"

#define MACHINE_CLUSTERS (MACHINES / JOB_NODES)

/* A client would use it. */
bool sim_there(const struct thing *t, enum thing_kind kind)
{
    bool in_use = !t->tree || (!t->tree->gone && !t->tree->delete_asked);
    bool known = t->acknowledged || t->kind == THING_JOB; /* others are made in it */
    return t->kind == kind && known && !t->unsure && !t->gone && !t->delete_asked && in_use;
}

struct thing *sim_pick(struct sim *m, enum thing_kind kind)
{
    struct thing *found[THINGS_MAX];
    int n = 0;
    for (int i = 0; i < m->n_things; i++)
        if (sim_there(m->things[i], kind))
            found[n++] = m->things[i];
    return n > 0 ? found[any(m, n)] : NULL;
}

int sim_count(const struct sim *m, enum thing_kind kind)
{
    int n = 0;
    for (int i = 0; i < m->n_things; i++)
        n += sim_there(m->things[i], kind);
    return n;
}

/* Acknowledged or not: at rest there must be nodes for all. */
static int clusters(const struct sim *m)
{
    int n = 0;
    for (int i = 0; i < m->n_things; i++)
        n += m->things[i]->kind == THING_CLUSTER && !m->things[i]->gone;
    return n;
}

/* --- making ----------------------------------------------------------------------------------- */

void sim_add_tree(struct sim *m)
{
    struct storage *st = m->life->st;
    struct err e = {0};
    struct thing *t =
        sim_count(m, THING_TREE) < TREES_MAX ? sim_thing_new(m, THING_TREE, "g") : NULL;
    if (!t)
        return;
    int64_t now = wall(m);
    const struct resource_group g = {.subscription = "sub",
                                     .name = t->name,
                                     .location = "here",
                                     .prov_state = PROV_SUCCEEDED,
                                     .created_us = now,
                                     .updated_us = now};
    bool ok = sim_ok(m, st_group_insert(st, &g, &t->id, &e), &e, "group");
    const struct workspace ws = {.group_id = t->id,
                                 .scope = {.location = "here"},
                                 .name = "ws",
                                 .prov_state = PROV_SUCCEEDED,
                                 .prov_us = now,
                                 .created_us = now,
                                 .updated_us = now};
    ok = ok && sim_ok(m, st_workspace_insert(st, &ws, &t->workspace, &e), &e, "workspace");
    const struct experiment x = {.workspace_id = t->workspace,
                                 .name = "exp",
                                 .prov_state = PROV_SUCCEEDED,
                                 .prov_us = now,
                                 .created_us = now,
                                 .updated_us = now};
    ok = ok && sim_ok(m, st_experiment_insert(st, &x, &t->experiment, &e), &e, "experiment");
    t->gone = !ok;
    sim_when_acknowledged(m, t);
    sim_trace(m, "group %s", t->name);
}

static struct scale any_scale(struct sim *m)
{
    static const enum dealloc_option options[] = {DEALLOC_REQUEUE, DEALLOC_TERMINATE,
                                                  DEALLOC_WAIT_FOR_COMPLETION};
    if (chance(m, 30)) {
        struct scale s = {.kind = SCALE_AUTO, .minimum = any(m, 2), .maximum = 1 + any(m, 4)};
        if (s.minimum > s.maximum)
            s.minimum = s.maximum;
        s.initial = s.minimum;
        return s;
    }
    return (struct scale){.kind = SCALE_MANUAL, .target = any(m, 7), .dealloc = options[any(m, 3)]};
}

/* At rest there must be machines for all. */
static int machine_clusters(const struct sim *m)
{
    int n = 0;
    for (int i = 0; i < m->n_things; i++)
        n += m->things[i]->on_machines && !m->things[i]->gone;
    return n;
}

/* A cluster of machines may mount a file server; that needs root. */
static const char *cluster_doc(struct sim *m, struct thing *t)
{
    if (chance(m, 20))
        return "{\"properties\": {\"nodeSetup\": {\"mountVolumes\": "
               "{\"unmanagedFileSystems\": [{\"mountCommand\": \"mount-share\", "
               "\"relativeMountPath\": \"share\"}]}}}}";
    t->server = t->on_machines && chance(m, 50) ? sim_pick(m, THING_SERVER) : NULL;
    return t->server ? sim_server_mount(m, t->server) : "{\"properties\": {}}";
}

static void add_cluster(struct sim *m)
{
    struct thing *tree = sim_pick(m, THING_TREE);
    struct err e = {0};
    struct thing *t = tree && clusters(m) < CLUSTERS ? sim_thing_new(m, THING_CLUSTER, "c") : NULL;
    if (!t)
        return;
    char guid[GUID_SIZE];
    guid_new(guid);
    int64_t now = wall(m);
    bool on_machines = t->on_machines = machine_clusters(m) < MACHINE_CLUSTERS && chance(m, 50);
    t->tree = tree;
    const struct cluster c = {.workspace_id = tree->workspace,
                              .name = t->name,
                              .guid = guid,
                              .doc = cluster_doc(m, t),
                              .vm_size = on_machines ? MACHINE_SIZE : LOCAL_SIZE,
                              .vm_priority =
                                  on_machines && chance(m, 40) ? VM_LOWPRIORITY : VM_DEDICATED,
                              .scale = any_scale(m),
                              .prov_state = PROV_SUCCEEDED,
                              .alloc_state = ALLOC_RESIZING,
                              .prov_us = now,
                              .alloc_us = now,
                              .created_us = now,
                              .updated_us = now};
    t->gone = !sim_ok(m, st_cluster_insert(m->life->st, &c, NULL, &t->id, &e), &e, "cluster");
    sim_when_acknowledged(m, t);
    sched_wake_pool(m->life->s, t->id);
    sim_trace(m, "cluster %s of %d to %d", t->name, c.scale.minimum,
              c.scale.kind == SCALE_AUTO ? c.scale.maximum : c.scale.target);
}

/* --- changing --------------------------------------------------------------------------------- */

void sim_scale(struct sim *m, struct thing *t, struct scale s)
{
    struct err e = {0};
    struct cluster c;
    int rc = st_cluster_by_id(m->life->st, &m->a, t->id, &c, &e);
    if (!sim_ok(m, rc, &e, "cluster") || rc == 0)
        return;
    c.scale = s;
    c.updated_us = wall(m);
    (void)sim_ok(m, st_cluster_update_scale(m->life->st, &c, &e), &e, "scale");
    sched_wake_pool(m->life->s, t->id);
    sim_trace(m, "resize %s: %d to %d", t->name, s.minimum,
              s.kind == SCALE_AUTO ? s.maximum : s.target);
}

static void resize(struct sim *m, struct thing *t)
{
    sim_scale(m, t, any_scale(m));
}

static void terminate(struct sim *m, struct thing *t)
{
    struct err e = {0};
    sim_trace(m, "terminate %s", t->name);
    if (batchai_terminate(&m->life->front, t->id, &e) < 0 && e.code != ERR_JOB_NOT_FOUND)
        (void)sim_ok(m, -1, &e, "terminate");
}

void sim_ask_delete(struct sim *m, struct thing *t)
{
    static const enum resource_kind kinds[] = {RES_GROUP, RES_CLUSTER, RES_JOB, RES_FILE_SERVER};
    struct err e = {0};
    if (t->kind == THING_WORK || t->kind == THING_TASK) {
        sim_delete_duty(m, t);
        return;
    }
    sim_trace(m, "delete %s", t->name);
    bool may_be_gone = t->delete_asked || !t->acknowledged;
    t->delete_asked = true;
    int rc = st_mark_deleting(m->life->st, kinds[t->kind], t->id, wall(m), &e);
    if (rc < 0 && !may_be_gone)
        (void)sim_ok(m, rc, &e, "delete");
    batchai_wake_deletions(&m->life->front);
}

static void delete_tree(struct sim *m)
{
    struct thing *t = sim_count(m, THING_TREE) > 1 ? sim_pick(m, THING_TREE) : NULL;
    if (t)
        sim_ask_delete(m, t);
}

/* --- trouble ---------------------------------------------------------------------------------- */

static struct fake_node *any_node(struct sim *m)
{
    size_t n = fake_count(m->fake);
    struct fake_node *found = n > 0 ? fake_at(m->fake, (size_t)any(m, (int)n)) : NULL;
    m->exporter_trouble = m->exporter_trouble || (found && sim_is_exporter(found));
    return found;
}

static void cut(struct sim *m, struct fake_node *n)
{
    sim_trace(m, "cut %s", fake_name(n));
    fake_cut(n);
}

static void down(struct sim *m, struct fake_node *n)
{
    bool is_down = chance(m, 60);
    sim_trace(m, "%s is %s", fake_name(n), is_down ? "down" : "up");
    fake_set_down(n, is_down, (int64_t)any(m, 2000) * 1000);
}

static void hang(struct sim *m, struct fake_node *n)
{
    bool hangs = chance(m, 50);
    sim_trace(m, "%s %s", fake_name(n), hangs ? "hangs" : "goes on");
    fake_set_hung(n, hangs);
}

static void restart_node(struct sim *m, struct fake_node *n)
{
    sim_trace(m, "restart of %s", fake_name(n));
    fake_restart(n);
}

static void wipe(struct sim *m, struct fake_node *n)
{
    sim_trace(m, "wipe %s", fake_name(n));
    fake_wipe(n);
}

static void refuse(struct sim *m, struct fake_node *n)
{
    int permille = chance(m, 50) ? 300 : 0;
    sim_trace(m, "%s refuses %d of 1000", fake_name(n), permille);
    fake_set_refusals(n, permille);
}

static void set_clock(struct sim *m)
{
    static const int64_t steps_s[] = {-86400 * 30, -3600, -1, 1, 3600, 86400 * 30};
    int64_t by = steps_s[any(m, 6)];
    sim_trace(m, "clock set by %lld s", (long long)by);
    m->t.wall_ahead_us += by * SECOND;
}

static void set_full(struct sim *m, bool full)
{
    sim_trace(m, full ? "disk full" : "disk has room");
    m->disk_full = full;
    m->was_full = m->was_full || full;
    m->writes_fail_until = m->t.now_us + 5 * SECOND;
    sim_disk_set_full(m->life->disk, full);
}

static void disk(struct sim *m)
{
    set_full(m, !m->disk_full);
}

/* For a moment, what follows from a request finds no room: only the request is on disk. */
static void full_behind(struct sim *m)
{
    static void (*const requests[])(struct sim *) = {sim_change_work, sim_change_work,
                                                     sim_change_task, sim_add_tasks};
    if (m->disk_full)
        return;
    requests[any(m, 4)](m);
    sim_pass(m, (int64_t)any(m, 3000));
    if (sim_failed(m))
        return;
    set_full(m, true);
    sim_pass(m, (int64_t)any(m, 50000));
    if (!sim_failed(m))
        set_full(m, false);
}

/* A daemon whose disk is full could not start: the database has to be opened. */
static void crash(struct sim *m)
{
    if (m->disk_full)
        set_full(m, false);
    sim_crash(m);
}

static void stop(struct sim *m)
{
    if (m->disk_full)
        set_full(m, false);
    sim_restart(m);
}

static void bad_disk(struct sim *m, struct fake_node *n)
{
    static const char *const words[] = {"bad", "full", "good"};
    int which = any(m, 3);
    sim_trace(m, "the disk of %s is %s", fake_name(n), words[which]);
    fake_set_bad_disk(n, which == 0);
    fake_set_full(n, which == 1);
}

static void share(struct sim *m)
{
    static const char *const words[] = {"can be mounted", "cannot be mounted", "hangs"};
    m->share = (enum sim_share)any(m, 3);
    sim_trace(m, "the share %s", words[m->share]);
}

/* --- machines --------------------------------------------------------------------------------- */

/* Those that are in no inventory and have no node are not known. */
static void drain(struct sim *m, int machine, bool drained)
{
    struct err e = {0};
    const char *name = sim_machine_name(machine);
    struct fleet *fl = sched_fleet(m->life->s);
    sim_trace(m, "%s %s", drained ? "drain" : "undrain", name);
    int rc = drained ? fleet_machine_drain(fl, name, "as was asked for", &e)
                     : fleet_machine_undrain(fl, name, &e);
    if (rc < 0 && e.code != ERR_MACHINE_NOT_FOUND)
        (void)sim_ok(m, rc, &e, "drain");
}

static void drain_any(struct sim *m)
{
    drain(m, any(m, MACHINES), chance(m, 60));
}

static void reboot(struct sim *m)
{
    struct err e = {0};
    const char *name = sim_machine_name(any(m, MACHINES));
    sim_trace(m, "reboot %s", name);
    int rc = fleet_machine_reboot(sched_fleet(m->life->s), name, &e);
    bool refused =
        e.code == ERR_MACHINE_NOT_FOUND || e.code == ERR_UNAVAILABLE || e.code == ERR_CONFLICT;
    if (rc < 0 && !refused)
        (void)sim_ok(m, rc, &e, "reboot");
}

/* One leaves the inventory, or comes back: that is read at once, or when the daemon starts. */
static void inventory(struct sim *m)
{
    m->missing ^= 1U << any(m, MACHINES);
    m->exporter_trouble = m->exporter_trouble || sim_exporter_missing(m);
    sim_trace(m, "without machines %x", m->missing);
    if (chance(m, 50) && m->life->up)
        sim_inventory_replace(m);
    else
        stop(m);
}

/* Jobs that it does not know, and, once it is put back, others in their rows. */
static void backup(struct sim *m)
{
    sim_backup(m);
    sim_add_jobs(m);
}

static void restore(struct sim *m)
{
    if (!m->backup || chance(m, 60)) { /* an old one brings back little that is still there */
        backup(m);
        sim_pass(m, (int64_t)any(m, 20) * SECOND);
    }
    if (sim_failed(m))
        return;
    if (m->disk_full)
        set_full(m, false);
    sim_restore(m);
    if (!sim_failed(m))
        sim_add_jobs(m);
}

/* --- a step ----------------------------------------------------------------------------------- */

static void nothing(struct sim *m)
{
    (void)m;
}

/* Every third history has many tasks. */
#define MANY_TASKS_EVERY 3

/* One of the functions: a step, or what becomes of any node, or of any thing of the kind. */
static const struct sim_action {
    int weight, many_tasks;
    void (*run)(struct sim *m);
    void (*on_node)(struct sim *m, struct fake_node *n);
    void (*on_thing)(struct sim *m, struct thing *t);
    enum thing_kind kind;
} actions[] = {
    {10, 10, add_cluster},
    {30, 30, sim_add_jobs},
    {8, 8, .on_thing = resize, .kind = THING_CLUSTER},
    {6, 6, .on_thing = terminate, .kind = THING_JOB},
    {5, 5, .on_thing = sim_ask_delete, .kind = THING_JOB},
    {3, 3, .on_thing = sim_ask_delete, .kind = THING_CLUSTER},
    {2, 2, sim_add_tree},
    {1, 1, delete_tree},
    {5, 5, .on_node = cut},
    {4, 4, .on_node = down},
    {2, 2, .on_node = hang},
    {3, 3, .on_node = restart_node},
    {2, 2, .on_node = wipe},
    {3, 3, .on_node = refuse},
    {3, 3, set_clock},
    {2, 8, disk},
    {1, 5, full_behind},
    {6, 6, crash},
    {2, 2, stop},
    {5, 5, nothing},
    {3, 3, backup},
    {3, 3, restore},
    {2, 2, .on_node = bad_disk},
    {4, 4, drain_any},
    {2, 2, inventory},
    {3, 3, share},
    {6, 6, reboot},
    {4, 4, sim_add_server},
    {2, 2, sim_delete_server},
    {3, 15, sim_add_pool},
    {8, 8, sim_change_pool},
    {2, 10, sim_add_work},
    {5, 25, sim_add_tasks},
    {2, 6, sim_add_rivals},
    {2, 10, sim_change_work},
    {2, 10, sim_change_task},
};

static int weight_of(const struct sim *m, size_t i)
{
    return m->seed % MANY_TASKS_EVERY == 0 ? actions[i].many_tasks : actions[i].weight;
}

static void act(struct sim *m, const struct sim_action *a)
{
    struct fake_node *n = a->on_node ? any_node(m) : NULL;
    struct thing *t = a->on_thing ? sim_pick(m, a->kind) : NULL;
    if (a->run)
        a->run(m);
    else if (n)
        a->on_node(m, n);
    else if (t)
        a->on_thing(m, t);
}

/* How long until the next step: at once, while messages are on their way, or long after. */
static int64_t pause_us(struct sim *m)
{
    static const int64_t most[] = {300, 5000, 50000, SECOND, 10 * SECOND, 60 * SECOND};
    return (int64_t)(sim_random(&m->t) % (uint64_t)most[any(m, 6)]);
}

void sim_step(struct sim *m)
{
    int sum = 0, at;
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        sum += weight_of(m, i);
    at = any(m, sum);
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        at -= weight_of(m, i);
        if (at >= 0)
            continue;
        act(m, &actions[i]);
        break;
    }
    if (!sim_failed(m))
        sim_pass(m, pause_us(m));
    arena_free(&m->a);
}

void sim_heal(struct sim *m)
{
    if (m->disk_full)
        set_full(m, false);
    for (size_t i = 0; i < fake_count(m->fake); i++) {
        struct fake_node *n = fake_at(m->fake, i);
        fake_set_down(n, false, 0);
        fake_set_hung(n, false);
        fake_set_refusals(n, 0);
        fake_set_bad_disk(n, false);
        fake_set_full(n, false);
    }
    m->share = SHARE_MOUNTS;
    if (m->missing != 0) {
        m->missing = 0;
        if (chance(m, 50))
            sim_inventory_replace(m);
        else
            sim_restart(m);
    }
    for (int i = 0; i < MACHINES && !sim_failed(m); i++)
        drain(m, i, false);
    if (sim_failed(m))
        return;
    sim_pass(m, 60 * SECOND);
    sim_servers_heal(m);
    /* As a full disk or a crash may have lost that it was asked for. */
    for (int i = 0; i < m->n_things && !sim_failed(m); i++)
        if (!m->things[i]->gone && m->things[i]->delete_asked)
            sim_ask_delete(m, m->things[i]);
    if (!sim_failed(m))
        sim_pools_settle(m);
    if (!sim_failed(m))
        sim_tasks_heal(m);
    if (!sim_failed(m))
        sim_pools_heal(m);
    if (!sim_failed(m))
        sim_lend(m);
    sim_make_room(m);
}

/* For each cluster's largest job. */
void sim_make_room(struct sim *m)
{
    for (int i = 0; i < m->n_things && !sim_failed(m); i++)
        if (sim_there(m->things[i], THING_CLUSTER))
            sim_scale(m, m->things[i],
                      i % 2 ? (struct scale){.kind = SCALE_AUTO, .maximum = JOB_NODES}
                            : (struct scale){.kind = SCALE_MANUAL,
                                             .target = JOB_NODES,
                                             .dealloc = DEALLOC_REQUEUE});
    arena_free(&m->a);
}

void sim_make_empty(struct sim *m)
{
    for (int i = 0; i < m->n_things && !sim_failed(m); i++)
        if (sim_there(m->things[i], THING_CLUSTER))
            sim_scale(m, m->things[i],
                      (struct scale){.kind = SCALE_MANUAL, .dealloc = DEALLOC_REQUEUE});
}

void sim_renew(struct sim *m)
{
    sim_make_empty(m);
    sim_pass(m, 300 * SECOND);
    sim_make_room(m);
}
