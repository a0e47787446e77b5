/* SPDX-License-Identifier: MIT
 *
 * Nodes of pools in the data plane.
 */
#ifndef API_PLANE_BATCH_NODES_H
#define API_PLANE_BATCH_NODES_H

#include "api/plane/batch/pools.h"
#include "api/plane/batch/routes.h"
#include "model/batch/node_states.h"
#include "storage/batch_jobs.h"

/* A task or subtask that ran on a node. */
struct recent_task {
    struct batch_task t;
    struct batch_subtask part; /* number 0: the task itself, not a subtask */
};

/* A node with the properties that replies show; in the arena. */
struct shown_node {
    struct node nd;
    struct node_setup setup; /* node_id 0: the node has run no start task */
    enum batch_node_state state;
    /* Counts of the node's tasks, from node_look_at_tasks(). */
    int running, running_slots;
    struct batch_node_total total;
    struct recent_task *recent; /* the latest first */
    size_t n_recent;
};
int node_look(struct request *r, const struct node *nd, struct shown_node *out,
              struct err *e) MUST_CHECK;
/* node_tasks.c: node_look_at_tasks() reads the node's task counts and latest tasks.
 * node_recent_tasks() renders the latest tasks; NULL: there are none. */
int node_look_at_tasks(struct request *r, struct shown_node *n, struct err *e) MUST_CHECK;
json_t *node_recent_tasks(struct request *r, const struct shown_node *n);
/* Finds the pool and the node that the request's path names. */
int node_of(struct request *r, struct batch_pool *p, struct shown_node *out,
            struct err *e) MUST_CHECK;
const char *node_path_of(struct request *r, const struct batch_pool *p, const struct node *nd,
                         const char *behind);
/* Properties of the pool's document that all its nodes show. They are read once, because the
 * document may be long. */
struct node_pool {
    const struct batch_pool *row;
    /* in the form of the request's api-version; NULL: the pool has none; in the arena */
    const char *start_task, *image;
    struct node_nat *nats;
    size_t n_nats;
};
void node_pool_read(struct request *r, const struct batch_pool *p, struct node_pool *out);
void node_render(struct request *r, const struct node_pool *p, const struct shown_node *n,
                 schema_set set, struct strbuf *out);

#endif
