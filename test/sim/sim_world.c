/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "storage/storage_priv.h"
#include "test/sim/sim.h"
#include "test/sim/wrap.h"

/* A lane's work takes at most this long; a message on its way, between these. */
#define WORK_MAX_US  8000
#define DELAY_MIN_US 100
#define DELAY_MAX_US 4000

/* So many turns in one instant mean that something goes round and round. A node whose disk fails is
 * connected to eight times before it is given up: some 250 turns, at worst within one instant. */
#define EVENTS_MAX 2000

void sim_fail(struct sim *m, const char *fmt, ...)
{
    va_list args;
    if (m->failure[0])
        return;
    va_start(args, fmt);
    vsnprintf(m->failure, sizeof m->failure, fmt, args);
    va_end(args);
}

bool sim_failed(const struct sim *m)
{
    return m->failure[0] != '\0';
}

void sim_trace(struct sim *m, const char *fmt, ...)
{
    char text[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (const char *p = text; *p; p++)
        m->trace = (m->trace ^ (unsigned char)*p) * UINT64_C(1099511628211);
    m->trace = (m->trace ^ (uint64_t)m->t.now_us) * UINT64_C(1099511628211);
    if (m->log.fd >= 0)
        dprintf(m->log.fd, "%12.6f  step %d: %s\n", (double)m->t.now_us / 1e6, m->step, text);
}

bool sim_ok(struct sim *m, int rc, const struct err *e, const char *what)
{
    if (rc >= 0)
        return true;
    if (!m->disk_full)
        sim_fail(m, "%s: %s", what, e->msg);
    return false;
}

/* Nothing that is linked into the simulation syncs any other file. */
WRAP(int, fdatasync, int fd)
{
    return sim_disk_sync(fd);
}

/* That SQLite's own pages are in order is looked at after every fourth start: it takes as long as
 * all else that a start does. */
#define STARTS_PER_CHECK 4

static int daemon_starts;

WRAP(int, st_check, struct storage *st, const struct st_peek *file, bool *beside, struct err *e)
{
    return ++daemon_starts % STARTS_PER_CHECK == 0 ? __real_st_check(st, file, beside, e) : 0;
}

/* --- names that a seed repeats ---------------------------------------------------------------- */

static uint64_t guids;

WRAP(void, guid_new, char out[37])
{
    uint64_t a = ++guids;
    snprintf(out, 37, "00000000-0000-4000-8000-%012llx", (unsigned long long)a);
}

/* --- a life of the daemon --------------------------------------------------------------------- */

static const char *const no_sizes[] = {NULL};

static void must(int rc, const struct err *e, const char *what)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "sim: %s: %s\n", what, e->msg);
    abort();
}

/* What runs on a machine that is in no inventory has to be taken for lost. */
static void lose_sight(const struct life *l)
{
    for (int i = 0; i < l->sim->n_things; i++) {
        struct thing *t = l->sim->things[i];
        int machine = t->last_node ? sim_machine_index(fake_name(t->last_node)) : -1;
        if (machine >= 0 && l->missing & 1U << machine)
            t->last_node = NULL;
    }
}

static struct life *life_new(struct sim *m, struct sim_disk *disk)
{
    struct life *l = xcalloc(1, sizeof *l);
    struct err e = {0};
    char db[256], key[256], random[9];
    int64_t wall = m->t.now_us + m->t.wall_ahead_us + SECOND; /* terms are seconds, and grow */
    m->latest_wall_us = wall > m->latest_wall_us ? wall : m->latest_wall_us + SECOND;
    m->looked = (struct looked){.turns = 0};
    m->withheld = 0;
    sim_events_forget(m);
    l->sim = m;
    l->disk = disk;
    sim_disk_use(disk);
    l->loop =
        sim_loop_create(&m->t, (int64_t)(sim_random(&m->t) % (1000000 * SECOND)), WORK_MAX_US);
    l->provider = fake_provider_new(m->fake, l->loop);
    snprintf(random, sizeof random, "%08x", (unsigned)(sim_random(&m->t) & 0xffffffff));
    const struct st_config sc = {.random = random,
                                 .path = sim_disk_path("db", db, sizeof db),
                                 .key_path = sim_disk_path("key", key, sizeof key),
                                 .loop = l->loop,
                                 .log = &m->log};
    must(st_open(&sc, &l->st, &e), &e, "open");
    l->files = files_create(l->loop, &m->log);
    sim_inventory_new(l);
    lose_sight(l);
    l->front = batchai_front(l->st, &m->log, false);
    l->batch = batch_front(l->st, &m->log);
    const struct sched_config c = {.loop = l->loop,
                                   .storage = l->st,
                                   .files = l->files,
                                   .fronts = {{&l->front.front, &l->batch.front}},
                                   .log = &m->log,
                                   .local = l->provider,
                                   .machines = l->provider,
                                   .site = &l->inventory->site,
                                   .nodes_dir = "/nodes",
                                   .storage_dir = "/shares",
                                   .local_nodes = LOCAL_NODES,
                                   .local_vm_sizes = no_sizes,
                                   .autoscale_idle_s = 30,
                                   .kill_timeout_s = 60,
                                   .backfill = sim_backfill,
                                   .n_backfill = SIM_BACKFILL,
                                   .kept_outputs = 2};
    l->s = sched_create(&c);
    must(sched_start(l->s, &e), &e, "start");
    l->up = true;
    return l;
}

static void turn(struct life *l)
{
    if (l->up)
        sched_turn(l->s);
    if (l->st)
        st_turn_end(l->st);
}

static void on_closed(void *ctx)
{
    ((struct life *)ctx)->closed = true;
}

static void on_files_stopped(void *ctx, size_t left_behind)
{
    struct life *l = ctx;
    struct storage *st = l->st;
    if (left_behind > 0)
        sim_fail(l->sim, "work on files is left behind");
    l->st = NULL;
    st_close(st, on_closed, l);
}

static void on_stopped(void *ctx)
{
    struct life *l = ctx;
    files_stop(l->files, on_files_stopped, l);
}

static void life_free(struct life *l)
{
    fake_provider_free(l->provider);
    sim_loop_free(l->loop);
    sim_disk_free(l->disk);
    sim_inventory_free(l);
    free(l);
}

/* --- time ------------------------------------------------------------------------------------- */

/* The next instant at which something is due; false: nothing before `end`. */
static bool next(struct sim *m, int64_t end)
{
    int64_t at, nodes;
    bool any = sim_loop_next(m->life->loop, &at);
    if (sim_loop_next(m->nodes_loop, &nodes) && (!any || nodes < at)) {
        at = nodes;
        any = true;
    }
    if (!any || at > end)
        return false;
    if (at > m->t.now_us)
        m->t.now_us = at;
    return true;
}

void sim_pass(struct sim *m, int64_t us)
{
    int64_t end = m->t.now_us + us, instant = -1;
    int here = 0;
    turn(m->life);
    while (!sim_failed(m) && next(m, end)) {
        here = m->t.now_us == instant ? here + 1 : 0;
        instant = m->t.now_us;
        m->events += sim_loop_run_due(m->nodes_loop);
        m->events += sim_loop_run_due(m->life->loop);
        turn(m->life);
        if (here > EVENTS_MAX)
            sim_fail(m, "the loop turns without end at one instant");
    }
    m->t.now_us = end;
}

/* Frees a life that is over: lets it stop in order, in a time of its own. */
static void detach(struct life *l)
{
    struct sim *m = l->sim;
    struct sim_time saved = m->t;
    int64_t at;
    l->up = false;
    sched_stop(l->s, on_stopped, l);
    while (!l->closed && sim_loop_next(l->loop, &at)) {
        if (at > m->t.now_us)
            m->t.now_us = at;
        sim_loop_run_due(l->loop);
        turn(l);
    }
    if (!l->closed)
        sim_fail(m, "the daemon does not stop");
    else
        life_free(l);
    saved.seq = m->t.seq;
    m->t = saved;
}

void sim_crash(struct sim *m)
{
    struct life *old = m->life;
    m->crashes++;
    sim_trace(m, "crash");
    old->crashed = true;
    struct sim_disk *left = sim_disk_crash(old->disk, &m->t);
    fake_provider_cut_off(old->provider);
    detach(old);
    for (int i = 0; i < m->n_things; i++) {
        m->things[i]->unsure = !m->things[i]->acknowledged;
        m->things[i]->was_queued = false; /* it may have been taken back */
    }
    if (!sim_failed(m))
        m->life = life_new(m, left);
}

/* Its disk; NULL: it does not stop. */
static struct sim_disk *stop(struct sim *m)
{
    struct life *l = m->life;
    l->up = false;
    sched_stop(l->s, on_stopped, l);
    for (int i = 0; i < 1000 && !l->closed; i++)
        sim_pass(m, SECOND / 10);
    if (!l->closed) {
        sim_fail(m, "the daemon does not stop");
        return NULL;
    }
    struct sim_disk *disk = l->disk;
    l->disk = NULL;
    life_free(l);
    m->life = NULL;
    return disk;
}

void sim_restart(struct sim *m)
{
    sim_trace(m, "restart");
    struct sim_disk *disk = stop(m);
    if (disk)
        m->life = life_new(m, disk);
}

/* --- backups ---------------------------------------------------------------------------------- */

static void forget_backup(struct sim *m)
{
    sim_disk_free(m->backup);
    free(m->in_backup);
    m->backup = NULL;
    m->in_backup = NULL;
}

void sim_backup(struct sim *m)
{
    sim_trace(m, "backup");
    forget_backup(m);
    m->backup = sim_disk_copy(m->life->disk);
    m->n_in_backup = m->n_things;
    m->in_backup = xcalloc((size_t)m->n_things + 1, sizeof *m->in_backup);
    for (int i = 0; i < m->n_things; i++)
        m->in_backup[i] = *m->things[i];
}

/* What was made since then never was; what waited then has not begun, whatever ran meanwhile. */
static void know_as_of_backup(struct sim *m)
{
    for (int i = 0; i < m->n_things; i++) {
        struct thing *t = m->things[i];
        int starts = t->starts;
        bool exported = t->exported, by_all = t->by_all && t->n_began == 0;
        if (i >= m->n_in_backup) {
            t->gone = true;
            t->acknowledged = false;
            t->exported = false; /* nobody knows of it any more */
            continue;
        }
        *t = m->in_backup[i];
        t->exported = exported;
        t->by_all = t->by_all && by_all; /* a node may remember that one ran, and how it ended */
        t->to_export_again = t->kind == THING_SERVER && t->acknowledged && !exported;
        t->starts = t->runs > 0 ? t->runs : t->was_queued ? 0 : starts; /* at least that many */
        t->unsure = !t->acknowledged;
        t->was_queued = false;
        t->last_node = NULL;
        t->begun = 0;
        t->duty.guid[0] = '\0';
        t->duty.starts = 0; /* at least none of those that its row knows of */
        for (int k = 0; k < ARRAY_RUNS; k++)
            t->each[k] = (struct array_run){.begun = 0};
        t->waits_since = 0;
    }
}

/* The instant from which on the clock gives a start a higher term than every start before had.
 * Starts in one second count on from there. */
static int64_t latest_start_us(const struct sim *m)
{
    int64_t by_term = (st_epoch(m->life->st)->term + 1) * 1000000;
    return by_term > m->latest_wall_us ? by_term : m->latest_wall_us;
}

/* The clock is seen to before: nodes obey no daemon that is older than the one they had. */
void sim_restore(struct sim *m)
{
    sim_trace(m, "restore");
    int64_t latest_us = latest_start_us(m);
    struct sim_disk *disk = stop(m);
    if (!disk)
        return;
    sim_disk_free(disk);
    int64_t behind = latest_us - (m->t.now_us + m->t.wall_ahead_us);
    m->t.wall_ahead_us += behind > 0 ? behind : 0;
    know_as_of_backup(m);
    m->life = life_new(m, sim_disk_copy(m->backup));
}

/* --- what the history knows ------------------------------------------------------------------- */

struct thing *sim_thing_new(struct sim *m, enum thing_kind kind, const char *prefix)
{
    if (m->n_things == THINGS_MAX)
        return NULL;
    struct thing *t = m->things[m->n_things++] = xcalloc(1, sizeof *t);
    t->kind = kind;
    snprintf(t->name, sizeof t->name, "%s%d", prefix, ++m->n_made);
    return t;
}

struct thing *sim_thing_by_name(const struct sim *m, const char *name)
{
    for (int i = 0; i < m->n_things; i++)
        if (strcmp(m->things[i]->name, name) == 0)
            return m->things[i];
    return NULL;
}

struct ack {
    struct life *life;
    struct thing *thing;
};

static void on_durable(void *ctx, const struct err *why)
{
    struct ack a = *(struct ack *)ctx;
    free(ctx);
    if (a.life->crashed)
        return;
    if (why)
        a.thing->gone = true;
    else
        a.thing->acknowledged = true;
}

void sim_when_acknowledged(struct sim *m, struct thing *t)
{
    struct ack *a = xcalloc(1, sizeof *a);
    *a = (struct ack){m->life, t};
    st_when_durable(m->life->st, on_durable, a);
}

/* --- a history -------------------------------------------------------------------------------- */

static void on_task_started(void *ctx, struct fake_node *n, const char *id, const char *command)
{
    sim_check_start(ctx, n, id, command);
}

static void on_task_ended(void *ctx, struct fake_node *n, const char *id)
{
    (void)n;
    sim_trace(ctx, "task %s ends", id);
}

static void on_rebooting(void *ctx, struct fake_node *n)
{
    sim_check_reboot(ctx, n);
}

static void world_new(struct sim *m, uint64_t seed)
{
    *m = (struct sim){.seed = seed, .log = {.fd = -1, .level = LOG_LVL_ERROR + 1}};
    m->t = (struct sim_time){
        .now_us = 1000 * SECOND, .wall_ahead_us = INT64_C(1700000000) * SECOND, .random = seed};
    m->t.random = sim_random(&m->t); /* or the next seed's history had the same numbers, one on */
    m->trace = UINT64_C(14695981039346656037);
    daemon_starts = 0;
    guids = seed << 20 & UINT64_C(0xffffffffff);
    if (getenv("SIM_LOG"))
        m->log = (struct log){.fd = 2, .level = LOG_LVL_DEBUG};
    arena_init(&m->a);
    m->nodes_loop = sim_loop_create(&m->t, 0, WORK_MAX_US);
    const struct fake_config f = {.loop = m->nodes_loop,
                                  .log = &m->log,
                                  .seed = sim_random(&m->t),
                                  .delay_min_us = DELAY_MIN_US,
                                  .delay_max_us = DELAY_MAX_US,
                                  .gpus = GPUS,
                                  .machine_root = MACHINE_ROOT,
                                  .plan = sim_plan_task,
                                  .ctx = m,
                                  .watch = {on_task_started, on_task_ended, m, on_rebooting}};
    m->fake = fake_nodes_create(&f);
    m->life = life_new(m, sim_disk_new());
    /* No run has the id of its job. */
    struct err e = {0};
    const struct run apart = {.owner_kind = RES_GROUP, .guid = "g", .state = RUN_OVER};
    must(st_run_insert(m->life->st, &apart, NULL, &e), &e, "run");
    must(st_runs_remove(m->life->st, RES_GROUP, 0, &e), &e, "run");
}

static void world_free(struct sim *m)
{
    fake_nodes_free(m->fake);
    forget_backup(m);
    sim_events_forget(m);
    int64_t at;
    while (sim_loop_next(m->nodes_loop, &at))
        abort(); /* a timer of the nodes is left */
    sim_loop_free(m->nodes_loop);
    for (int i = 0; i < m->n_things; i++)
        free(m->things[i]);
    arena_free(&m->a);
}

void sim_prepare(void)
{
    static struct sim m;
    world_new(&m, 0);
    struct life *l = m.life;
    l->up = false;
    sched_stop(l->s, on_stopped, l);
    sim_pass(&m, 10 * SECOND);
    if (!l->closed)
        abort();
    sim_disk_keep_template(l->disk);
    life_free(l);
    world_free(&m);
    sim_sql_keep();
}

void sim_begin(struct sim *m, uint64_t seed)
{
    world_new(m, seed);
    sim_turns_begin(m);
    sim_add_tree(m);
}

void sim_end(struct sim *m)
{
    if (m->life) {
        m->life->crashed = true;
        sim_disk_set_full(m->life->disk, false);
        fake_provider_cut_off(m->life->provider);
        detach(m->life);
    }
    world_free(m);
}
