/* SPDX-License-Identifier: MIT
 *
 * Events: their sequence grows, those of a resource fit together and end in the state that it is
 * in, and none is left of a resource that is gone.
 */
#include <sqlite3.h>
#include <stdlib.h>

#include "lib/arena.h"
#include "test/sim/sim_view.h"

void sim_events_forget(struct sim *m)
{
    free(m->events_seen.chain);
    m->events_seen = (struct events_seen){.last = 0};
}

static struct link_of_chain *find(struct events_seen *seen, int kind, int64_t id)
{
    for (size_t i = 0; i < seen->n; i++)
        if (seen->chain[i].kind == kind && seen->chain[i].id == id)
            return &seen->chain[i];
    return NULL;
}

static void add(struct events_seen *seen, struct link_of_chain l)
{
    if (seen->n == seen->cap) {
        seen->cap = seen->cap ? 2 * seen->cap : 64;
        seen->chain = xrealloc(seen->chain, seen->cap * sizeof *seen->chain);
    }
    seen->chain[seen->n++] = l;
}

static void take_event(struct view *v, sqlite3_stmt *s)
{
    struct events_seen *seen = &v->m->events_seen;
    int64_t seq = sqlite3_column_int64(s, 0), id = sqlite3_column_int64(s, 2);
    int kind = sqlite3_column_int(s, 1), from = sqlite3_column_int(s, 3);
    struct link_of_chain *l = find(seen, kind, id);
    if (from != (l ? l->to : 0))
        sim_fail(v->m, "event %lld of resource %lld of kind %d goes on from state %d, not from %d",
                 (long long)seq, (long long)id, kind, from, l ? l->to : 0);
    seen->last = seq;
    if (l)
        l->to = sqlite3_column_int(s, 4);
    else
        add(seen, (struct link_of_chain){.kind = kind, .id = id, .to = sqlite3_column_int(s, 4)});
}

static void check_state(struct view *v, int kind, int64_t id, const char *name, int state)
{
    const struct link_of_chain *l = find(&v->m->events_seen, kind, id);
    if (!l || l->to != state)
        sim_fail(v->m, "%s is in state %d, and its last event went to state %d", name, state,
                 l ? l->to : 0);
}

/* What was rolled back was seen only if it was committed, and is seen again after another life
 * began with less. */
void sim_events_check(struct view *v)
{
    static const char sql[] = "SELECT seq, kind, resource_id, from_state, to_state FROM event "
                              "WHERE seq > ?1 ORDER BY seq";
    if (!sim_view_rows_after(v, sql, v->m->events_seen.last, take_event))
        return;
    for (size_t i = 0; i < v->n_clusters; i++)
        check_state(v, RES_CLUSTER, v->clusters[i].id, v->clusters[i].name,
                    (int)v->clusters[i].alloc_state);
    for (size_t i = 0; i < v->n_nodes; i++)
        check_state(v, RES_NODE, v->nodes[i].id, v->nodes[i].name, (int)v->nodes[i].state);
    for (size_t i = 0; i < v->n_jobs; i++)
        check_state(v, RES_JOB, v->jobs[i].id, v->jobs[i].name, (int)v->jobs[i].exec_state);
}

void sim_events_check_pruned(struct view *v)
{
    const char *sql = arena_printf(
        &v->m->a,
        "SELECT printf('events are left of resource %%d of kind %%d, which is gone', resource_id, "
        "kind) FROM event WHERE (kind = %d AND resource_id NOT IN (SELECT id "
        "FROM cluster)) OR (kind = %d AND resource_id NOT IN (SELECT id FROM node)) OR (kind = %d "
        "AND resource_id NOT IN (SELECT id FROM job)) LIMIT 1",
        RES_CLUSTER, RES_NODE, RES_JOB);
    (void)sim_view_none(v, sql);
}
