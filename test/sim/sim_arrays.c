/* SPDX-License-Identifier: MIT
 *
 * Jobs that are arrays: several runs of one job, each of which must begin once in an attempt, no
 * more of them at once than their limit, and the job ends with the last.
 */
#include <stdlib.h>
#include <string.h>

#include "test/sim/sim_view.h"

#define GUID_CHARS (GUID_SIZE - 1)

/* Ids of tasks are GUID-ATTEMPT-... */
static int attempt_of(const char *id)
{
    return strlen(id) > GUID_SIZE ? (int)strtol(id + GUID_SIZE, NULL, 10) : 0;
}

/* The run of the array that the task is of; NULL: it would be one more than there are. */
static struct array_run *run_of(struct thing *t, const char *id)
{
    for (int i = 0; i < t->runs; i++) {
        struct array_run *r = &t->each[i];
        if (r->guid[0] == '\0')
            memcpy(r->guid, id, GUID_CHARS);
        if (strncmp(r->guid, id, GUID_CHARS) == 0)
            return r;
    }
    return NULL;
}

void sim_array_start(struct sim *m, struct thing *t, struct fake_node *n, const char *id)
{
    struct array_run *r = run_of(t, id);
    if (!r) {
        sim_fail(m, "task %s starts, and job %s has %d runs", id, t->name, t->runs);
        return;
    }
    /* A node that was in trouble may carry out late what it was told. */
    if (fake_troubles(n) > 0 && (attempt_of(id) < r->begun || t->ended == EXEC_FAILED))
        return;
    if (attempt_of(id) <= r->begun)
        sim_fail(m, "task %s starts once more: attempt %d of job %s has begun", id, r->begun,
                 t->name);
    if (t->ended != 0)
        sim_fail(m, "task %s starts, and job %s had ended", id, t->name);
    r->begun = attempt_of(id);
    t->starts++;
}

bool sim_array_agrees(const struct job *j, const struct run *r)
{
    bool over = r->state == RUN_RELEASING || r->state == RUN_OVER;
    switch (j->exec_state) {
    case EXEC_QUEUED:
        return r->state == RUN_WAITING || over;
    case EXEC_RUNNING:
        return true;
    case EXEC_TERMINATING:
        return over || r->state == RUN_ALLOCATED;
    case EXEC_SUCCEEDED:
    case EXEC_FAILED:
        return over;
    }
    return false;
}

void sim_array_check(struct view *v, const struct job *j, const struct thing *t)
{
    int n = 0, at_once = 0;
    for (size_t i = 0; i < v->n_jobs; i++) {
        n += v->jobs[i].id == j->id;
        at_once += v->jobs[i].id == j->id && v->runs[i].state == RUN_ALLOCATED;
    }
    if (n != t->runs)
        sim_fail(v->m, "job %s has %d runs of %d", j->name, n, t->runs);
    if (t->at_once > 0 && at_once > t->at_once)
        sim_fail(v->m, "job %s has %d runs at once, and %d are the limit", j->name, at_once,
                 t->at_once);
    if (j->exec_state == EXEC_SUCCEEDED && t->starts < t->runs)
        sim_fail(v->m, "job %s succeeded, and %d of its %d runs began", j->name, t->starts,
                 t->runs);
}
