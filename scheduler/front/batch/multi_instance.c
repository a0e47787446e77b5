/* SPDX-License-Identifier: MIT */
#include "scheduler/front/batch/multi_instance.h"

#include <limits.h>

#include "model/batch/pool_spec.h"
#include "scheduler/front/batch/front_priv.h"

int team_nodes_max(struct arena *a, const struct batch_pool *p, int *out, struct err *e)
{
    struct batch_pool_spec s;
    if (batch_pool_decode(a, p->doc, NULL, &s, e) < 0)
        return -1;
    *out = s.communicates && p->slots == 1 ? INT_MAX : 1;
    return 0;
}

void team_add(const struct batch_front *f, struct arena *a, const struct batch_pool *p,
              const struct batch_multi_instance *m, struct place_spec *place)
{
    struct team_spec *team = arena_alloc(a, sizeof *team);
    const char **argv;
    size_t n = batch_program(f, a, p, m->coordination, &argv);
    *team = (struct team_spec){.coordination = {argv, n, m->coordination}};
    team->files.items = arena_alloc(a, (m->n_common + 1) * sizeof *team->files.items);
    struct batch_inputs in = {.front = f, .a = a, .pool = p, .files = &team->files};
    batch_add_files(&in, m->common, m->n_common, place->dir);
    if (in.refused && !place->refused) {
        place->refused = in.refused;
        place->why_refused = in.why_refused;
    }
    place->team = team;
}

/* --- subtasks -------------------------------------------------------------------------------- */

int team_begin(struct storage *st, const struct batch_task *t, const struct allocation *parts,
               size_t n, int64_t now_us, struct err *e)
{
    if (st_batch_subtask_clear(st, t->id, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        struct batch_subtask s = {.task_id = t->id,
                                  .number = parts[i].rank,
                                  .node_name = parts[i].node_name,
                                  .state = BATCH_TASK_RUNNING,
                                  .state_us = now_us,
                                  .start_us = now_us};
        if (s.number > 0 && (st_node_emptied(st, parts[i].node_id, &s.emptied, e) < 0 ||
                             st_batch_subtask_begin(st, &s, e) < 0))
            return -1;
    }
    return 0;
}

int team_part_prepared(const struct front *f, struct storage *st, const struct run *r,
                       const struct run_prep *part, struct err *e)
{
    struct arena a;
    (void)f;
    if (part->rank == 0)
        return 0; /* the first node has the task itself, not a subtask */
    arena_init(&a);
    const struct batch_subtask s = {.task_id = r->owner_id,
                                    .number = part->rank,
                                    .end_us = part->now_us,
                                    .has_exit_code = part->has_exit_code,
                                    .exit_code = part->exit_code,
                                    .result = part->why ? BATCH_FAILURE : BATCH_SUCCESS,
                                    .failure = part->why ? task_failure_info(&a, part->why) : NULL};
    int rc = st_batch_subtask_end(st, &s, e);
    arena_free(&a);
    return rc;
}

int team_end(struct storage *st, const struct batch_task *t, const struct run_end *end,
             struct err *e)
{
    struct arena a;
    if (t->instances == 1)
        return 0;
    arena_init(&a);
    /* If a task has succeeded, a subtask without a written end is treated as successful, too. */
    const struct batch_subtask s = {.task_id = t->id,
                                    .end_us = end->now_us,
                                    .has_exit_code = !end->why,
                                    .result = end->why ? BATCH_FAILURE : BATCH_SUCCESS,
                                    .failure = end->why ? task_failure_info(&a, end->why) : NULL};
    int rc = st_batch_subtask_end(st, &s, e);
    arena_free(&a);
    return rc;
}
