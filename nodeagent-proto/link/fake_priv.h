/* SPDX-License-Identifier: MIT
 *
 * Shared by fake.c (connections) and fake_agent.c (tasks, requests).
 */
#ifndef NODEAGENT_PROTO_LINK_FAKE_PRIV_H
#define NODEAGENT_PROTO_LINK_FAKE_PRIV_H

#include "lib/strbuf.h"
#include "nodeagent-proto/link/fake.h"
#include "nodeagent-proto/link/link_priv.h"

#define FAKE_ID_SIZE   40
#define FAKE_NAME_SIZE 512
#define FAKE_FULL      "No space left on device"

/* A task on a node, until it is forgotten. */
struct fake_node_task {
    struct fake_node_task *next;
    struct fake_node *node;
    char *id, *command;
    struct fake_task plan;
    size_t written;            /* how many of its outputs were written */
    int64_t began_us, end_us;  /* monotonic; unknown (0) while the task is held */
    char *why;                 /* the reason in its status */
    char *log_path, *step;     /* the log of the run; NULL: none */
    struct task_status status; /* its texts are owned by the task, or static */
    struct loop_timer *timer;  /* due at the next output or at the end; only while the task runs */
    /* when the answer to the run request arrives: the end is not reported earlier */
    int64_t reply_us;
    uint64_t told; /* conn.serial of the connection on which its end was reported */
};

/* A message under way, in either direction. */
struct message {
    struct message *next;
    int64_t at_us; /* when it arrives */
    struct strbuf frame;
};

struct fake_provider {
    struct node_provider base; /* first */
    struct fake_nodes *f;
    struct loop *loop;
    struct fake_link *links;
};

/* The daemon's end of a connection. */
struct fake_link {
    struct node_link link; /* first */
    struct fake_provider *provider;
    struct fake_link *next;
    char *name;
    struct conn *conn; /* NULL: cut off, or closed */
};

/* A connection, owned by its node. Freed when its link is closed and all messages to the node have
 * arrived. */
struct conn {
    struct conn *next;
    uint64_t serial; /* from 1 */
    struct fake_node *node;
    struct fake_link *link;    /* NULL: closed */
    struct message *up, *down; /* to the node, to the daemon; by arrival */
    /* the latest time of arrival so far; later messages do not arrive before it */
    int64_t last_up, last_down;
    int64_t fail_us; /* when the link will break; 0: never */
    bool is_dead;    /* messages written from now on do not arrive */
    bool outdated;   /* a newer daemon has said hello to the node */
    bool greeted;    /* hello was answered: ends are reported */
    bool in_use;     /* inside its timer's callback: must not be freed */
    struct frame_decoder in;
    struct loop_timer *timer;
};

struct fake_node {
    struct fake_nodes *f;
    char *name;
    char incarnation[FAKE_ID_SIZE], boot_id[FAKE_ID_SIZE];
    struct conn *conns;
    struct fake_node_task *tasks;
    /* the epoch of the newest daemon that said hello: its term and its random id */
    int64_t term;
    char epoch_id[FAKE_ID_SIZE];
    bool down, hung, bad_disk, full, removed, is_root;
    int refusals, troubles, gpus;
    int64_t id;    /* 0: no link has reached the node yet */
    char *refuses; /* NULL: see fake_set_refusing() */
    bool secretive;
};

/* The functions of the agent that connections call. */
struct fake_agent {
    void (*init)(struct fake_node *n);
    void (*request)(struct conn *c, json_t *req);
    void (*restart)(struct fake_node *n);
    void (*wipe)(struct fake_node *n); /* removes everything that the node has recorded */
};

struct fake_nodes {
    struct fake_config c;
    const struct fake_agent *agent;
    uint64_t random, last_serial;
    struct fake_node **nodes;
    size_t n, cap;
};

uint64_t fake_random(struct fake_nodes *f);
/* Finds the node of this name, or makes it. */
struct fake_node *fake_find(struct fake_nodes *f, const char *name);
/* Sends `msg` to the daemon, and takes it over; it does not arrive before the time `not_before`.
 * in_order: later messages do not arrive before `msg`. Returns the time of arrival. */
int64_t fake_reply(struct conn *c, json_t *msg, int64_t not_before, bool in_order);
/* Like fake_reply() in order, with raw bytes. */
void fake_reply_with(struct conn *c, json_t *msg, const void *bytes, size_t n);

/* --- fake_task.c --- */

struct fake_node_task *fake_task_find(const struct fake_node *n, const char *id);
struct fake_node_task *fake_task_start(struct fake_node *n, const struct task_spec *spec);
/* Reports the task's end on every link that has not reported it. */
void fake_task_tell(struct fake_node_task *t);
/* Ends the task; its end is not reported yet. */
void fake_task_end(struct fake_node_task *t, enum task_state state);
void fake_task_kill(struct fake_node_task *t, int signo);
void fake_task_forget(struct fake_node_task *t);

/* Makes the nodes, whose agents have the functions of `agent`. Called by fake_nodes_create(). */
struct fake_nodes *fake_nodes_new(const struct fake_config *c, const struct fake_agent *agent);

#endif
