/* SPDX-License-Identifier: MIT
 *
 * What must hold, after each step and at the end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/guid.h"
#include "model/capacity.h"
#include "scheduler/fleet/fleet.h"
#include "test/sim/sim_view.h"

/* Nodes that idle in vain for this long, beside a job that they suffice for, were forgotten. */
#define FORGOTTEN_US (5 * SECOND)

/* How others read the same rows is looked at after so many steps, and at rest. */
#define STEPS_PER_COMPARISON 8

/* --- nodes ------------------------------------------------------------------------------------ */

/* Or what a job of Azure Batch does on a node before and after its tasks. */
static bool of_task(const struct view *v, int64_t run_id)
{
    for (size_t i = 0; i < v->n_chores; i++)
        if (v->chores[i] == run_id)
            return true;
    for (size_t i = 0; i < v->n_tasks; i++)
        if (v->task_runs[i].id == run_id)
            return true;
    return false;
}

static bool whole_run(const struct view *v, int64_t run_id)
{
    for (size_t i = 0; i < v->n_jobs; i++)
        if (v->runs[i].id == run_id)
            return v->runs[i].need_whole;
    return !of_task(v, run_id);
}

/* Its own GPUs, by bit: tasks share all of their node. */
static unsigned devices(const struct view *v, const struct allocation *al, const struct node *n)
{
    unsigned bits = 0;
    if (of_task(v, al->run_id))
        return 0;
    if (whole_run(v, al->run_id))
        return (1U << n->has.gpus) - 1;
    for (const char *at = al->devices; at && *at;) {
        char *end;
        bits |= 1U << strtol(at, &end, 10);
        at = *end == ',' ? end + 1 : "";
    }
    return bits;
}

static int bits_in(unsigned bits)
{
    return __builtin_popcount(bits);
}

/* Who has parts of it has them alone. */
static void check_parts(struct view *v, const struct node *n)
{
    struct capacity used = {0};
    unsigned taken = 0;
    for (size_t i = 0; i < v->n_held; i++) {
        const struct allocation *al = &v->held[i];
        if (al->node_id != n->id)
            continue;
        unsigned mine = devices(v, al, n);
        if (mine & taken)
            sim_fail(v->m, "node %s gives GPUs (bits %x) twice", n->name, mine & taken);
        if (!whole_run(v, al->run_id) && bits_in(mine) != al->takes.gpus)
            sim_fail(v->m, "a run has %d GPUs of node %s and is told of those of bits %x",
                     al->takes.gpus, n->name, mine);
        taken |= mine;
        used.slots += al->takes.slots;
        used.gpus += al->takes.gpus;
        used.cores += al->takes.cores;
        if (!al->devices && n->live > 1)
            sim_fail(v->m, "a run has the whole of node %s, and %d runs are there", n->name,
                     n->live);
    }
    if (!capacity_fits(&n->has, &used))
        sim_fail(v->m, "node %s has %s, and %s are taken", n->name,
                 capacity_text(&v->m->a, &n->has), capacity_text(&v->m->a, &used));
}

static void check_node(struct view *v, const struct node *n)
{
    if (n->live > 0 && n->state == NODE_PREPARING)
        sim_fail(v->m, "node %s is being prepared and holds %d runs", n->name, n->live);
    if ((n->idle_us != 0) != (n->state == NODE_IDLE && n->live == 0))
        sim_fail(v->m, "node %s in state %d holds %d runs; idle since %lld", n->name, (int)n->state,
                 n->live, (long long)n->idle_us);
    if (n->live > 0)
        check_parts(v, n);
}

/* A machine is one cluster's alone. */
static void check_nodes(struct view *v)
{
    int local = 0;
    for (size_t i = 0; i < v->n_nodes; i++) {
        local += v->nodes[i].machine_id == 0;
        check_node(v, &v->nodes[i]);
        for (size_t k = 0; k < i && v->nodes[i].machine_id != 0; k++)
            if (v->nodes[k].machine_id == v->nodes[i].machine_id)
                sim_fail(v->m, "nodes %s and %s are the same machine", v->nodes[k].name,
                         v->nodes[i].name);
    }
    if (local > LOCAL_NODES)
        sim_fail(v->m, "%d nodes are more than the %d there may be", local, LOCAL_NODES);
}

bool sim_withheld(const struct view *v, const struct node *n)
{
    int i = sim_view_machine(v, n);
    return i >= 0 && ((v->drained | v->m->life->missing) & 1U << i);
}

bool sim_gets_nothing(const struct view *v, const struct node *n)
{
    return sim_withheld(v, n) || fleet_node_closed(sched_fleet(v->m->life->s), n->id);
}

/* Which nodes leave first: those that are of the least use. */
static int leave_rank(const struct view *v, const struct node *n)
{
    static const int ranks[] = {
        [NODE_UNUSABLE] = 0, [NODE_PREPARING] = 2, [NODE_IDLE] = 3, [NODE_LEAVING] = 5};
    if (n->state != NODE_IDLE)
        return ranks[n->state];
    return n->live > 0 ? 4 : sim_gets_nothing(v, n) ? 1 : ranks[NODE_IDLE];
}

bool sim_empties(const struct view *v, const struct cluster *c, const struct node *n)
{
    int surplus = -c->scale.target, before = 0;
    if (c->scale.kind != SCALE_MANUAL || c->scale.dealloc != DEALLOC_WAIT_FOR_COMPLETION)
        return false;
    for (size_t i = 0; i < v->n_nodes; i++) {
        const struct node *o = &v->nodes[i];
        if (o->pool_id != c->id || o->state == NODE_LEAVING)
            continue;
        int differ = leave_rank(v, o) - leave_rank(v, n);
        surplus++;
        before += differ < 0 || (differ == 0 && o->ordinal > n->ordinal);
    }
    return before < surplus;
}

/* --- jobs ------------------------------------------------------------------------------------- */

static bool is_over(enum exec_state x)
{
    return x == EXEC_SUCCEEDED || x == EXEC_FAILED;
}

/* The two say the same. */
static void check_run(struct view *v, const struct job *j, const struct run *r)
{
    bool agree = j->exec_state == EXEC_QUEUED ? r->state == RUN_WAITING
                 : is_over(j->exec_state)     ? r->state == RUN_RELEASING || r->state == RUN_OVER
                                          : r->state == RUN_ALLOCATED || r->stop == STOP_AND_FORGET;
    bool stops =
        j->exec_state != EXEC_TERMINATING || r->stop != STOP_NOT || r->state != RUN_ALLOCATED;
    if (r->runs > 1)
        agree = sim_array_agrees(j, r);
    if (r->id == 0 || !agree || !stops ||
        (j->prov_state == PROV_DELETING && r->stop != STOP_AND_FORGET))
        sim_fail(v->m, "job %s is in state %d, and its run %lld in state %d, stop %d", j->name,
                 (int)j->exec_state, (long long)r->id, (int)r->state, (int)r->stop);
}

/* What was withheld when last looked at, and still is, has got no job since. */
static void check_given(struct view *v, const struct job *j, const struct allocation *al,
                        const struct node *n)
{
    const struct thing *t = sim_thing_by_name(v->m, j->name);
    int i = sim_view_machine(v, n);
    if (!t || t->runs > 0 || !sim_withheld(v, n) || !(v->m->withheld & 1U << i))
        return;
    if (t->was_queued || t->seen_attempt != al->attempt)
        sim_fail(v->m, "job %s has got machine %s, which is drained or in no inventory", j->name,
                 sim_machine_name(i));
}

/* All of its nodes while it runs, each rank once; none while it is queued. */
static void check_allocation(struct view *v, const struct job *j, const struct run *r)
{
    unsigned ranks = 0;
    int held = 0;
    check_run(v, j, r);
    for (size_t i = 0; i < v->n_held; i++) {
        const struct allocation *al = &v->held[i];
        const struct node *n = sim_view_node(v, al->node_id);
        if (al->run_id != r->id)
            continue;
        for (size_t k = 0; k < i; k++)
            if (v->held[k].run_id == r->id && v->held[k].node_id == al->node_id)
                sim_fail(v->m, "job %s has node %s twice", j->name, al->node_name);
        if (n)
            check_given(v, j, al, n);
        held++;
        ranks |= 1U << al->rank;
        if (!n || n->pool_id != j->cluster_id || al->attempt != r->attempt)
            sim_fail(v->m, "job %s has node %s in attempt %d of %d: of another cluster, or gone",
                     j->name, al->node_name, al->attempt, r->attempt);
    }
    if (is_over(j->exec_state) || r->state == RUN_RELEASING || r->state == RUN_OVER)
        return;
    int want = r->state == RUN_WAITING ? 0 : j->node_count;
    if (held != want || ranks != (1U << want) - 1)
        sim_fail(v->m, "job %s in state %d holds %d nodes of %d, ranks %x", j->name,
                 (int)j->exec_state, held, j->node_count, ranks);
}

static void check_end(struct view *v, const struct job *j, struct thing *t)
{
    struct sim *m = v->m;
    if (t->ended != 0 && (j->exec_state != t->ended || j->attempt != t->attempt))
        sim_fail(m, "job %s had ended in state %d and is in state %d now, attempt %d", j->name,
                 (int)t->ended, (int)j->exec_state, j->attempt);
    if (j->exec_state == EXEC_SUCCEEDED && t->starts == 0)
        sim_fail(m, "job %s succeeded and never ran", j->name);
    if (j->exec_state == EXEC_SUCCEEDED && t->by_all && t->n_began < t->processes)
        sim_fail(m, "job %s succeeded, and %d of its %d processes ran", j->name, t->n_began,
                 t->processes);
    if (j->exec_state == EXEC_SUCCEEDED && t->last_fails)
        sim_fail(m, "job %s succeeded, and its last process fails", j->name);
    if (j->attempt < t->attempt && t->ended == 0 && !st_has_pending(m->life->st))
        t->attempt = j->attempt; /* a crash took the allocation back */
    if (is_over(j->exec_state) && t->ended == 0 && !st_has_pending(m->life->st)) {
        t->ended = j->exec_state;
        t->attempt = j->attempt;
        sim_trace(m, "%s ended in state %d", j->name, (int)j->exec_state);
    }
}

/* The end of the awaited one; 0: it has not ended; -1: it is gone, and nobody saw its end. */
static int end_of(const struct view *v, const struct thing *t)
{
    for (size_t i = 0; i < v->n_jobs; i++)
        if (strcmp(v->jobs[i].name, t->name) == 0)
            return is_over(v->jobs[i].exec_state) ? (int)v->jobs[i].exec_state : 0;
    return t->ended ? (int)t->ended : -1;
}

/* Nobody begins before the one that it waits for has ended as it wants. */
static void check_awaited(struct view *v, const struct job *j, const struct thing *t)
{
    static const enum exec_state wanted[] = {
        [AFTER_SUCCESS] = EXEC_SUCCEEDED, [AFTER_FAILURE] = EXEC_FAILED, [AFTER_END] = 0};
    if (!t->awaits || j->attempt == 0)
        return;
    int end = end_of(v, t->awaits);
    if (end == 0 || (end > 0 && wanted[t->wanted] != 0 && end != (int)wanted[t->wanted]))
        sim_fail(v->m, "job %s has begun, and job %s, which it waits for, %s", j->name,
                 t->awaits->name, end == 0 ? "has not ended" : "ended otherwise");
}

/* A job that asks for more than its cluster may have now makes way to those behind it. */
static int most_nodes(const struct cluster *c)
{
    return c->scale.kind == SCALE_AUTO ? c->scale.maximum : c->scale.target;
}

static bool outranks(const struct job *a, const struct job *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->id < b->id;
}

/* The first that waits of those that the cluster could ever serve; -1: none. */
static int head_of(const struct view *v, const struct cluster *c)
{
    int head = -1;
    for (size_t i = 0; i < v->n_jobs; i++) {
        const struct job *j = &v->jobs[i];
        if (j->cluster_id == c->id && v->runs[i].stop == STOP_NOT &&
            v->runs[i].state == RUN_WAITING && v->runs[i].held == HOLD_NOT &&
            j->prov_state != PROV_DELETING && j->node_count <= most_nodes(c) &&
            (head < 0 || outranks(j, &v->jobs[head])))
            head = (int)i;
    }
    return head;
}

static bool has_room(const struct view *v, const struct node *n, const struct run *r)
{
    struct capacity left = n->has;
    if (n->state != NODE_IDLE || sim_gets_nothing(v, n))
        return false;
    for (size_t i = 0; i < v->n_held; i++)
        if (v->held[i].node_id == n->id) {
            left.slots -= v->held[i].takes.slots;
            left.gpus -= v->held[i].takes.gpus;
            left.cores -= v->held[i].takes.cores;
        }
    return r->need_whole ? n->live == 0 : left.slots > 0 && capacity_fits(&left, &r->need);
}

/* How many nodes could begin with it now. */
static int room_for(const struct view *v, const struct cluster *c, int head)
{
    int n = 0;
    for (size_t i = 0; head >= 0 && i < v->n_nodes; i++)
        n += v->nodes[i].pool_id == c->id && !sim_empties(v, c, &v->nodes[i]) &&
             has_room(v, &v->nodes[i], &v->runs[head]);
    return n;
}

/* Nobody is served before those that outrank it, and they wait for no idle node. */
static void check_queue(struct view *v, const struct cluster *c)
{
    struct sim *m = v->m;
    int at = head_of(v, c), room = room_for(v, c, at);
    const struct job *head = at < 0 ? NULL : &v->jobs[at];
    for (int i = 0; i < m->n_things; i++) {
        struct thing *t = m->things[i];
        bool waits = head && t->kind == THING_JOB && t->cluster && t->cluster->id == c->id &&
                     strcmp(t->name, head->name) == 0 && head->node_count <= room;
        if (t->kind != THING_JOB || !t->cluster || t->cluster->id != c->id)
            continue;
        m->looked.waits = m->looked.waits || waits;
        if (!waits)
            t->waits_since = 0;
        else if (t->waits_since == 0)
            t->waits_since = m->t.now_us;
        else if (m->t.now_us - t->waits_since > FORGOTTEN_US &&
                 m->t.now_us > m->writes_fail_until && !m->disk_full)
            sim_fail(m, "job %s of %d nodes waits beside %d nodes with room in cluster %s", t->name,
                     t->nodes, room, c->name);
        if (m->disk_full)
            t->waits_since = 0;
    }
}

static void remember_queue(struct view *v)
{
    for (size_t i = 0; i < v->n_jobs; i++) {
        const struct job *j = &v->jobs[i];
        struct thing *t = sim_thing_by_name(v->m, j->name);
        if (!t)
            continue;
        t->was_queued = j->exec_state == EXEC_QUEUED && v->runs[i].held == HOLD_NOT;
        t->seen_attempt = j->attempt;
    }
}

/* Nothing was written since the last look, and no job waits that must not wait for long. */
static bool nothing_new(struct sim *m)
{
    const struct st_counters *n = st_counters(m->life->st);
    struct looked now = {.turns = n->commits + n->rollbacks,
                         .pending = st_has_pending(m->life->st)};
    bool same = now.turns == m->looked.turns && now.turns > 0 && now.pending == m->looked.pending &&
                !m->looked.waits;
    m->looked = now;
    return same;
}

void sim_check(struct sim *m)
{
    struct view v;
    if (nothing_new(m))
        return;
    sim_presence_of_trees(m);
    if (sim_failed(m) || !sim_view_read(m, &v))
        return;
    if (m->step % STEPS_PER_COMPARISON == 0) {
        sim_view_compare(&v);
        sim_usage_check(&v);
    }
    sim_presence_check(&v);
    check_nodes(&v);
    for (size_t i = 0; i < v.n_jobs; i++) {
        struct thing *t = sim_thing_by_name(m, v.jobs[i].name);
        check_allocation(&v, &v.jobs[i], &v.runs[i]);
        if (!t)
            continue;
        check_awaited(&v, &v.jobs[i], t);
        if (v.runs[i].idx > 0)
            continue;
        check_end(&v, &v.jobs[i], t);
        if (t->runs > 0)
            sim_array_check(&v, &v.jobs[i], t);
    }
    for (size_t i = 0; i < v.n_clusters; i++)
        if (v.clusters[i].prov_state != PROV_DELETING)
            check_queue(&v, &v.clusters[i]);
    sim_turns_check(&v);
    sim_servers_check(&v);
    sim_pools_check(m);
    sim_tasks_check(&v);
    sim_events_check(&v);
    remember_queue(&v);
    m->withheld = v.drained | m->life->missing;
    st_turn_end(m->life->st); /* reading has begun a transaction */
    arena_free(&m->a);
}

/* --- tasks ------------------------------------------------------------------------------------ */

static struct thing *job_of(const struct sim *m, const char *command)
{
    const char *name = strstr(command, " job=");
    return name ? sim_thing_by_name(m, name + 5) : NULL;
}

struct start {
    struct sim *m;
    struct fake_node *node;
    const struct thing *job;
    const char *id;
};

/* As far as is known: what is left of one that has ended shares with nobody. */
static bool may_share(const struct thing *a, const struct thing *b)
{
    return a->cluster == b->cluster && a->part && b->part && a->ended == 0;
}

/* Ids of tasks are GUID-ATTEMPT-... */
static int attempt_of(const char *id)
{
    return strlen(id) > GUID_SIZE ? (int)strtol(id + GUID_SIZE, NULL, 10) : 0;
}

/* Nothing starts beside what is left of another job. Twice at once is no fault where the daemon had
 * to take the first for lost. */
static void compare(void *ctx, struct fake_node *n, const char *id, const char *command)
{
    const struct start *s = ctx;
    const struct thing *job = job_of(s->m, command);
    bool other = job != s->job || (job && job->runs > 0 && strncmp(id, s->id, GUID_SIZE - 1) != 0);
    if (job && other && n == s->node && !may_share(job, s->job))
        sim_fail(s->m, "task %s starts on %s beside %s", s->id, fake_name(n), id);
    if (!job || other || job->runs > 0 || (n == s->node && strcmp(id, s->id) == 0))
        return;
    if (job->processes > 0 && attempt_of(id) == attempt_of(s->id))
        return;
    if (s->job->last_node == n && fake_troubles(n) == s->job->last_troubles)
        sim_fail(s->m, "task %s starts on %s while %s runs on %s", s->id, fake_name(s->node), id,
                 fake_name(n));
}

/* A node that was in trouble may carry out what it was told before, when all else has gone on: it
 * is found and ended when the node is reached again. */
static bool is_late(const struct thing *t, const struct fake_node *n, const char *id)
{
    return fake_troubles(n) > 0 && (attempt_of(id) < t->begun || t->ended == EXEC_FAILED);
}

/* What is behind GUID-ATTEMPT-EPOCH-: the rank of the node, and the name of the process there. */
static unsigned name_hash(const char *id)
{
    const char *p = id + GUID_SIZE;
    unsigned h = 5381;
    for (int dashes = 0; *p && dashes < 2; p++)
        dashes += *p == '-';
    for (; *p; p++)
        h = h * 33 + (unsigned char)*p;
    return h;
}

/* Whether it is the first start of this process in this attempt, or else a fault. */
static bool is_new(struct thing *t, const char *id)
{
    if (attempt_of(id) > t->begun)
        t->n_began = 0;
    else if (attempt_of(id) < t->begun || t->n_began >= t->processes)
        return false;
    for (int i = 0; i < t->n_began; i++)
        if (t->began[i] == name_hash(id))
            return false;
    t->began[t->n_began++] = name_hash(id);
    return true;
}

/* No history has trouble for this many attempts of a run. */
#define ATTEMPTS_MAX 200

/* Coordination commands do not say whose they are, and a run whose command fails begins anew. */
static void check_attempts(struct sim *m, const char *id)
{
    if (strstr(id, "-coordination") && attempt_of(id) > ATTEMPTS_MAX)
        sim_fail(m, "task %s starts for the %dth time", id, attempt_of(id));
}

void sim_check_start(struct sim *m, struct fake_node *n, const char *id, const char *command)
{
    struct thing *t = job_of(m, command);
    sim_trace(m, "task %s starts on %s", id, fake_name(n));
    sim_server_command(m, id, command);
    if (!t) {
        check_attempts(m, id);
        return;
    }
    if (t->kind == THING_TASK) {
        sim_task_start(m, t, n, id);
        return;
    }
    struct start s = {m, n, t, id};
    if (t->runs > 0) {
        sim_array_start(m, t, n, id);
        if (t->ended == 0)
            fake_each_running(m->fake, compare, &s);
        return;
    }
    if (is_late(t, n, id))
        return;
    if (!is_new(t, id))
        sim_fail(m, "task %s starts once more: attempt %d of job %s has begun", id, t->begun,
                 t->name);
    if (t->ended != 0)
        sim_fail(m, "task %s starts, and job %s had ended", id, t->name);
    fake_each_running(m->fake, compare, &s);
    t->starts++;
    t->begun = attempt_of(id);
    t->last_node = n;
    t->last_troubles = fake_troubles_over(n);
}

/* What the daemon knows of: it runs where it was begun, and nothing could have lost it. */
static void is_disturbed(void *ctx, struct fake_node *n, const char *id, const char *command)
{
    const struct start *s = ctx;
    const struct thing *t = job_of(s->m, command);
    if (t && !t->gone && n == s->node && n == t->last_node && attempt_of(id) == t->begun &&
        t->ended == 0 && fake_troubles(n) == t->last_troubles)
        sim_fail(s->m, "machine %s is restarted under task %s", fake_name(n), id);
}

void sim_check_reboot(struct sim *m, struct fake_node *n)
{
    struct start s = {.m = m, .node = n};
    sim_trace(m, "%s restarts, as it was told to", fake_name(n));
    fake_each_running(m->fake, is_disturbed, &s);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void is_left(void *ctx, struct fake_node *n, const char *id, const char *command)
{
    const char **what = ctx;
    (void)n, (void)command;
    *what = id;
}

bool sim_at_rest(struct sim *m, const char **what)
{
    struct view v;
    static char text[300];
    *what = text;
    if (!sim_view_read(m, &v))
        return true;
    for (size_t i = 0; i < v.n_jobs; i++)
        if (!is_over(v.jobs[i].exec_state) || v.jobs[i].prov_state == PROV_DELETING) {
            snprintf(text, sizeof text, "job %s is in state %d, provisioning state %d",
                     v.jobs[i].name, (int)v.jobs[i].exec_state, (int)v.jobs[i].prov_state);
            return false;
        }
    for (size_t i = 0; i < v.n_clusters; i++) {
        const struct cluster *c = &v.clusters[i];
        int want = c->scale.kind == SCALE_AUTO ? c->scale.minimum : c->scale.target;
        if (c->prov_state == PROV_DELETING || c->alloc_state != ALLOC_STEADY ||
            c->counts.idle != want ||
            c->counts.preparing + c->counts.running + c->counts.leaving + c->counts.unusable > 0) {
            snprintf(text, sizeof text,
                     "cluster %s (provisioning %d, allocation %d) has %d idle nodes of %d, %d "
                     "preparing, %d running, %d leaving, %d unusable: %s",
                     c->name, (int)c->prov_state, (int)c->alloc_state, c->counts.idle, want,
                     c->counts.preparing, c->counts.running, c->counts.leaving, c->counts.unusable,
                     c->errors ? c->errors : "no errors");
            return false;
        }
    }
    if (!sim_servers_at_rest(&v, text, sizeof text) || !sim_pools_at_rest(m, text, sizeof text) ||
        !sim_tasks_at_rest(&v, text, sizeof text))
        return false;
    const char *left = NULL;
    fake_each_running(m->fake, is_left, &left);
    if (left)
        snprintf(text, sizeof text, "task %s still runs", left);
    for (int i = 0; !left && i < m->n_things; i++)
        if (m->things[i]->delete_asked && !m->things[i]->gone) {
            snprintf(text, sizeof text, "%s is not deleted", m->things[i]->name);
            return false;
        }
    if (!left)
        sim_view_compare(&v);
    return left == NULL;
}
