/* SPDX-License-Identifier: MIT
 *
 * What was acknowledged is there as long as nobody has asked for its deletion, and what is gone
 * does not come back.
 */
#include <string.h>

#include "test/sim/sim_view.h"

static void check_presence(struct sim *m, struct thing *t, int64_t id, bool is_there)
{
    if (t->gone && is_there && t->acknowledged)
        sim_fail(m, "%s was removed and is there again", t->name);
    if (is_there) {
        t->id = id;
        t->gone = t->unsure = false;
        t->acknowledged = t->acknowledged || !st_has_pending(m->life->st); /* it is on disk */
        return;
    }
    bool may_go = t->delete_asked || (t->tree && t->tree->delete_asked);
    if (t->acknowledged && !may_go)
        sim_fail(m, "%s was acknowledged and is not there", t->name);
    if (t->unsure || !st_has_pending(m->life->st))
        t->gone = true;
    t->unsure = false;
}

void sim_presence_of_trees(struct sim *m)
{
    for (int i = 0; i < m->n_things; i++) {
        struct thing *t = m->things[i];
        struct err e = {0};
        struct resource_group g = {0};
        if (t->kind != THING_TREE || t->gone)
            continue;
        int rc = st_group_get(m->life->st, &m->a, "sub", t->name, &g, &e);
        if (sim_ok(m, rc, &e, "group"))
            check_presence(m, t, g.id, rc == 1);
    }
}

/* Its row's id; 0: it has none. */
static int64_t row_of(const struct view *v, const struct thing *t)
{
    for (size_t k = 0; t->kind == THING_JOB && k < v->n_jobs; k++)
        if (strcmp(v->jobs[k].name, t->name) == 0)
            return v->jobs[k].id;
    for (size_t k = 0; t->kind == THING_CLUSTER && k < v->n_clusters; k++)
        if (strcmp(v->clusters[k].name, t->name) == 0)
            return v->clusters[k].id;
    for (size_t k = 0; t->kind == THING_SERVER && k < v->n_servers; k++)
        if (strcmp(v->servers[k].name, t->name) == 0)
            return v->servers[k].id;
    for (size_t k = 0; t->kind == THING_WORK && k < v->n_works; k++)
        if (strcmp(v->works[k].name, t->name) == 0)
            return v->works[k].id;
    for (size_t k = 0; t->kind == THING_TASK && k < v->n_tasks; k++)
        if (strcmp(v->tasks[k].name, t->name) == 0)
            return v->tasks[k].id;
    return 0;
}

void sim_presence_check(struct view *v)
{
    for (int i = 0; i < v->m->n_things; i++) {
        struct thing *t = v->m->things[i];
        int64_t id = t->kind == THING_TREE ? 0 : row_of(v, t);
        if (t->kind != THING_TREE)
            check_presence(v->m, t, id, id != 0);
    }
}
