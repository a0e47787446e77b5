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

struct task;

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

/* A connection, owned by its node. Freed when its link is closed and everything sent to the node
 * has arrived. */
struct conn {
    struct conn *next;
    uint64_t serial; /* from 1 */
    struct fake_node *node;
    struct fake_link *link;     /* NULL: closed */
    struct message *up, *down;  /* to the node, to the daemon; by arrival */
    int64_t last_up, last_down; /* no later message arrives before this */
    int64_t fail_us;            /* when the link goes down; 0: it does not */
    bool is_dead;               /* nothing more that is written arrives */
    bool outdated;              /* a newer daemon has said hello to the node */
    bool greeted;               /* hello was answered: ends are told */
    bool in_use;                /* inside its timer: not to be freed */
    struct frame_decoder in;
    struct loop_timer *timer;
};

struct fake_node {
    struct fake_nodes *f;
    char *name;
    char incarnation[FAKE_ID_SIZE], boot_id[FAKE_ID_SIZE];
    struct conn *conns;
    struct task *tasks;
    int64_t term; /* of the newest daemon that said hello, and its id */
    char epoch_id[FAKE_ID_SIZE];
    bool down, hung, bad_disk, removed, is_root;
    int refusals, troubles, gpus;
};

/* The functions of the agent that connections call. */
struct fake_agent {
    void (*init)(struct fake_node *n);
    void (*request)(struct conn *c, json_t *req);
    void (*restart)(struct fake_node *n);
    void (*wipe)(struct fake_node *n); /* all that it knows */
};

struct fake_nodes {
    struct fake_config c;
    const struct fake_agent *agent;
    uint64_t random, last_serial;
    struct fake_node **nodes;
    size_t n, cap;
};

uint64_t fake_random(struct fake_nodes *f);
/* Finds or makes it. */
struct fake_node *fake_find(struct fake_nodes *f, const char *name);
/* Sends `msg`, which it takes over, so that it does not arrive before this instant. in_order: later
 * messages do not arrive before it. Returns when it arrives. */
int64_t fake_reply(struct conn *c, json_t *msg, int64_t not_before, bool in_order);

/* The part of fake_nodes_create() below the agents. */
struct fake_nodes *fake_nodes_new(const struct fake_config *c, const struct fake_agent *agent);

#endif
