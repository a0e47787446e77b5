/* SPDX-License-Identifier: MIT */
#include "daemon/serve/scripted.h"

#include "api/access/access.h"
#include "api/testing/testing.h"
#include "nodeagent-proto/link/fake.h"
#include "scheduler/wake/paced.h"
#include "storage/changes.h"

int scripted_open(struct scripted *s, const struct serve_config *c, struct loop *loop,
                  const struct access *access, const struct fronts *fronts, struct err *e)
{
    struct storage *st = access->storage;
    s->strict = testing_strict_create(st, access, c->config->testing_strict);
    if (st_changes_keep(st, loop, e) < 0)
        return -1;
    s->rules = testing_rules_create(st, fronts, c->log);
    s->faults = testing_faults_create();
    testing_rules_tell(s->rules, s->faults);
    /* Messages have no delay, so that tests need not wait, and work even if the clock stands
     * still. */
    const struct fake_config fc = {.loop = loop,
                                   .log = c->log,
                                   .seed = 1,
                                   .keeps_files = true,
                                   .runtimes = RUNTIME_SCRIPTED,
                                   .plan = testing_rules_plan,
                                   .met = testing_rules_met,
                                   .ctx = s->rules};
    s->nodes = fake_nodes_create(&fc);
    s->provider = fake_provider_new(s->nodes, loop);
    testing_rules_of(s->rules, s->nodes);
    *testing_faults_ground(s->faults) =
        (struct fault_ground){.storage = st, .loop = loop, .nodes = s->nodes};
    return c->rules_file ? testing_rules_load(s->rules, c->rules_file, e) : 0;
}

struct sched_gate scripted_gate(const struct scripted *s)
{
    return (struct sched_gate){s->faults ? testing_faults_shut : NULL, s->faults};
}

void scripted_begin(struct scripted *s, struct sched *sched)
{
    if (s->faults)
        testing_faults_ground(s->faults)->sched = sched;
    wakes_set_pace(sched_wakes(sched), testing_strict_pace(s->strict));
}

void scripted_close(struct scripted *s)
{
    if (s->faults)
        testing_faults_ground(s->faults)->sched = NULL;
    testing_faults_free(s->faults);
    if (s->provider)
        fake_provider_free(s->provider);
    fake_nodes_free(s->nodes);
    testing_rules_free(s->rules);
    testing_strict_free(s->strict);
    *s = (struct scripted){.provider = NULL};
}
