/* SPDX-License-Identifier: MIT
 *
 * A set-up task with a place of its front's: its tries, one after the other, and the row that its
 * front reads of it. A preparation waits for it (prepare.c), or it goes on beside the runs of
 * the node (start_task.c).
 */
#ifndef SCHEDULER_FLEET_NODE_SETUP_H
#define SCHEDULER_FLEET_NODE_SETUP_H

#include "scheduler/fleet/node/node_priv.h"
#include "scheduler/fleet/script/script.h"

/* All that it points at lives in the arena, as long as a script must (script.h). */
struct setup_run {
    struct node_rt *rt;
    struct arena *a;
    const struct setup_task_spec *task;
    const char *id;        /* of the first try; those of others begin so */
    bool dedicated;        /* the class of the node */
    struct node_setup row; /* node_id 0: it has not begun */
    struct script *script; /* of the present try; NULL: it is none */
    bool known;            /* the node knew that try: it has its files */
    const char
        *container_said;       /* by the start of its container; NULL: its row has it, or nothing */
    bool tidies;               /* the try has ended with `why`; its container is removed */
    const struct failure *why; /* once it is over; NULL: it went well */
};

/* Whether one goes on beside the node's runs. */
bool setup_is_beside(const struct node_setup *row);
/* Notes that it runs. */
void setup_run_note(struct setup_run *s);
/* Begins the first try or, if `row` says that it runs, goes on with the one that it names. */
void setup_run_begin(struct setup_run *s);
/* Takes the next step; the node is woken when there is one. True: it is over, `why` says how, and
 * the row as well unless the node itself failed under a preparation. */
bool setup_run_over(struct setup_run *s);

#endif
