/* SPDX-License-Identifier: MIT
 *
 * Jobs, as the front would make them: of whole nodes or parts, alone or after others, some to be
 * tried again.
 */
#include <string.h>

#include "lib/guid.h"
#include "model/states.h"
#include "storage/storage.h"
#include "test/sim/sim_steps.h"

/* As the front reads it out of the job's document. */
static void ask_for_part(struct sim *m, struct thing *t, struct job *j)
{
    j->part = t->part = true;
    j->need = (struct capacity){.slots = any(m, 3), .gpus = any(m, 3), .cores = any(m, 4)};
    sim_trace(m, "%s wants %d slots, %d GPUs, %d cores", t->name, j->need.slots, j->need.gpus,
              j->need.cores);
}

/* What has not ended yet is waited for; what has may be named too. */
static void wait_for_another(struct sim *m, struct thing *t)
{
    struct thing *other = sim_pick(m, THING_JOB);
    struct err e = {0};
    struct job j;
    if (!other || other == t || other->tree->delete_asked || other->delete_asked)
        return;
    int rc = st_job_by_id(m->life->st, &m->a, other->id, &j, &e);
    if (!sim_ok(m, rc, &e, "awaited") || rc == 0 || strcmp(j.name, other->name) != 0 ||
        j.prov_state == PROV_DELETING)
        return;
    bool over = j.exec_state == EXEC_SUCCEEDED || j.exec_state == EXEC_FAILED;
    enum ended_how how = j.exec_state == EXEC_SUCCEEDED ? ENDED_WELL : ENDED_BADLY;
    t->wanted = (enum after)(1 + any(m, AFTER_END));
    const struct dependency d = {.owner_kind = RES_JOB,
                                 .owner_id = t->id,
                                 .awaited_kind = RES_JOB,
                                 .awaited_id = other->id,
                                 .name = other->name,
                                 .wanted = t->wanted,
                                 .state = over ? dependency_next(t->wanted, how) : DEPENDENCY_OPEN,
                                 .ended = over ? how : 0};
    if (!sim_ok(m, st_dependency_add(m->life->st, &m->a, &d, 1, wall(m), &e), &e, "dependency"))
        return;
    t->awaits = other;
    sim_trace(m, "%s waits for %s: %d", t->name, other->name, (int)t->wanted);
}

/* Whatever else it is: one command, on one node or more. */
static void make_array(struct sim *m, struct thing *t, struct job *j)
{
    static const int numbers[ARRAY_RUNS] = {0, 5, 10, 15};
    j->runs = t->runs = 2 + any(m, ARRAY_RUNS - 1);
    j->numbers = numbers;
    j->at_once = t->at_once = chance(m, 50) ? 1 + any(m, t->runs) : 0;
    sim_trace(m, "%s is an array of %d, %d at once", t->name, t->runs, t->at_once);
}

static void add_job(struct sim *m)
{
    struct thing *cluster = sim_pick(m, THING_CLUSTER);
    struct err e = {0};
    struct thing *t = cluster ? sim_thing_new(m, THING_JOB, "j") : NULL;
    if (!t)
        return;
    char guid[GUID_SIZE];
    guid_new(guid);
    int64_t now = wall(m);
    int wall_s = chance(m, 20) ? 5 : 600;
    t->tree = cluster->tree;
    t->cluster = cluster;
    t->nodes = chance(m, 70) ? 1 : 1 + any(m, JOB_NODES);
    t->priority = chance(m, 70) ? 0 : (any(m, 3) - 1) * 1000;
    struct job j = {.experiment_id = t->tree->experiment,
                    .cluster_id = cluster->id,
                    .name = t->name,
                    .guid = guid,
                    .doc = sim_job_doc(m, t, wall_s),
                    .cluster_ref = "ref",
                    .priority = t->priority,
                    .node_count = t->nodes,
                    .max_wall_us = wall_s * SECOND,
                    .prov_state = PROV_SUCCEEDED,
                    .exec_state = EXEC_QUEUED,
                    .prov_us = now,
                    .exec_us = now,
                    .created_us = now,
                    .updated_us = now};
    if (chance(m, 40))
        ask_for_part(m, t, &j);
    if (t->processes == 0 && chance(m, 20))
        make_array(m, t, &j);
    t->gone = !sim_ok(m, st_job_insert(m->life->st, &j, NULL, &t->id, &e), &e, "job");
    if (!t->gone && chance(m, 30))
        wait_for_another(m, t);
    sim_when_acknowledged(m, t);
    sched_wake_pool(m->life->s, cluster->id);
    sim_trace(m, "job %s on %s: %d nodes, priority %d", t->name, cluster->name, t->nodes,
              t->priority);
}

void sim_add_jobs(struct sim *m)
{
    for (int n = 1 + any(m, 3); n > 0; n--)
        add_job(m);
}
