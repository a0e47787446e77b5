/* SPDX-License-Identifier: MIT
 *
 * What the files about nodes share: node_runtime.c (rows and memory), node_link.c (the link),
 * node_watch.c (health), node_leave.c (the end).
 */
#ifndef SCHEDULER_NODE_PRIV_H
#define SCHEDULER_NODE_PRIV_H

#include "scheduler/sched_priv.h"
#include "scheduler/script.h"

/* Longest text of a health trouble or of a reason to drain. */
#define NODE_REASON_MAX 1024

/* --- node_link.c ---------------------------------------------------------------------------- */

/* Without a link: opens one if the pause since the last is over and it is this node's turn, or sees
 * to it that the node is woken then. */
void node_link_want(struct node_rt *rt);
/* It was tried long or often enough: the node is to be given up. `preparing`: nothing runs there
 * that could be lost. */
bool node_link_hopeless(struct node_rt *rt, bool preparing);
/* A local node that was given up: not for a while. */
void node_link_pause(struct node_rt *rt);
/* Tried at once, as if it had never failed. */
void node_link_forgive(struct node_rt *rt);

/* "<incarnation of the root>@<boot id>", as rows keep it; older rows have no boot id. */
enum node_likeness { NODE_SAME, NODE_REBOOTED, NODE_REPLACED };
enum node_likeness node_compare(const char *row, const char *now);

/* Replaces an owned text; NULL: none. */
void node_set_text(char **field, const char *text);

/* --- node_release.c ------------------------------------------------------------------------- */

/* The next step of giving a machine back: kill what runs there, take away what we made, close the
 * link. True when it is done, or given up. */
bool node_release(struct node_rt *rt);
void node_release_task_ended(struct node_rt *rt, const struct task_status *st);
/* Before and after the link closes. */
void node_release_halt(struct node_rt *rt);
void node_release_link_down(struct node_rt *rt);
void node_release_free(struct node_rt *rt);

/* --- node_watch.c --------------------------------------------------------------------------- */

/* Asks a machine for its health when it is time; the link is ready. One whose agent has not
 * answered the last time for too long loses its link. */
void node_watch_pulse(struct node_rt *rt);
/* Runs a machine's health command when it is time; after node_watch_pulse(), on a node that is
 * prepared. */
void node_watch(struct node_rt *rt);
/* The link is going: what was asked for is not answered any more. */
void node_watch_link_down(struct node_rt *rt);
/* The node is prepared or given back: what becomes of a health command that runs is of no interest
 * any more, as it is killed for that. */
void node_watch_stop(struct node_rt *rt);
void node_watch_task_ended(struct node_rt *rt, const struct task_status *st);
void node_watch_free(struct node_rt *rt);

#endif
