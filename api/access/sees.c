/* SPDX-License-Identifier: MIT */
#include "api/access/sees.h"

#define READ_JOB "Microsoft.BatchAI/workspaces/experiments/jobs/read"

int sees_may(struct request *r, const struct access *x, struct err *e)
{
    r->grant = NULL;
    if (r->who->first)
        return 0;
    struct grants *g = arena_alloc(&r->arena, sizeof *g);
    if (access_load(x, &r->arena, r->who, g, e) < 0)
        return -1;
    r->grant = g;
    if (g->n > 0)
        return 0;
    return access_refuse(r, READ_JOB,
                         arena_concat(&r->arena, "/subscriptions/", x->subscription_id), e);
}

bool sees_job(const struct grants *held, const struct job *j)
{
    struct arena a;
    const struct scope *s = &j->scope;
    if (!held)
        return true;
    arena_init(&a);
    const char *id = arena_concat(&a, "/subscriptions/", s->subscription, "/resourceGroups/",
                                  s->group, "/providers/Microsoft.BatchAI/workspaces/",
                                  s->workspace, "/experiments/", s->experiment, "/jobs/", j->name);
    bool sees = access_verdict(held, READ_JOB, id) == ACCESS_YES;
    arena_free(&a);
    return sees;
}
