/* SPDX-License-Identifier: MIT */
#include "daemon/scripted.h"

#include "api/testing/rules.h"
#include "nodeagent-proto/link/fake.h"

int scripted_open(struct scripted *s, const struct serve_config *c, struct loop *loop,
                  struct storage *st, const struct fronts *fronts, struct err *e)
{
    s->rules = testing_rules_create(st, fronts, c->log);
    /* Messages take no time, so that a test sees no delay, and a clock may stand still. */
    const struct fake_config fc = {.loop = loop,
                                   .log = c->log,
                                   .seed = 1,
                                   .keeps_files = true,
                                   .runtimes = "docker",
                                   .plan = testing_rules_plan,
                                   .ctx = s->rules};
    s->nodes = fake_nodes_create(&fc);
    s->provider = fake_provider_new(s->nodes, loop);
    testing_rules_of(s->rules, s->nodes);
    return c->rules_file ? testing_rules_load(s->rules, c->rules_file, e) : 0;
}

void scripted_close(struct scripted *s)
{
    if (s->provider)
        fake_provider_free(s->provider);
    fake_nodes_free(s->nodes);
    testing_rules_free(s->rules);
    *s = (struct scripted){.provider = NULL};
}
