/* SPDX-License-Identifier: MIT
 *
 * A set-up task with a separate place (struct place_spec): its tries, one after the other, and the
 * row that its front reads. A preparation waits for it (prepare.c), or it runs beside the runs of
 * the node (start_task.c).
 */
#ifndef SCHEDULER_FLEET_NODE_SETUP_H
#define SCHEDULER_FLEET_NODE_SETUP_H

#include "scheduler/fleet/node/node_priv.h"
#include "scheduler/fleet/script/script.h"

/* Its owner calls setup_run_free() when the link cannot answer the script any more (script.h). */
struct setup_run {
    struct node_rt *rt;
    struct arena a; /* of the present try, its script and its result */
    const struct setup_task_spec *task;
    const char *id;             /* id of the first try; the prefix of the ids of later tries */
    bool dedicated;             /* the class of the node */
    struct node_setup row;      /* node_id 0: the task has not begun */
    int64_t next_us;            /* when the next try may begin (monotonic); 0: a try has begun */
    struct script *script;      /* script of the present try; NULL: none */
    bool known;                 /* the node already had this try, so its files are there */
    const char *container_said; /* output of the start of its container; NULL: its row has the id,
                                   or there is none */
    bool tidies;                /* the try has ended with `why`; its container is being removed */
    const struct failure *why;  /* after the task's end; NULL: success */
};

/* Whether the task runs beside the node's runs. */
bool setup_is_beside(const struct node_setup *row);
/* Records that the task runs. */
void setup_run_note(struct setup_run *s);
/* The first or, if `row` is in state running, the try in it: setup_run_over() begins or continues
 * this try. */
void setup_run_begin(struct setup_run *s);
/* Like setup_run_begin(), but first reads the row of a try that began since `since_us` (wall
 * clock). */
void setup_run_resume(struct setup_run *s, int64_t since_us);
void setup_run_free(struct setup_run *s);
/* The id of the present try, or of the last one. */
const char *setup_run_try(struct setup_run *s);
/* Takes the next step; the node is woken when the next step can be taken. True: the task has ended;
 * `why` contains the result. The row contains it too, unless the node itself failed in a
 * preparation. */
bool setup_run_over(struct setup_run *s);

#endif
