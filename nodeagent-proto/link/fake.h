/* SPDX-License-Identifier: MIT
 *
 * Fake nodes: agents in memory that keep the promises of PROTOCOL.md (a task id starts once, ends
 * are reported on every link until they are forgotten, requests may be repeated), run tasks in the
 * time of their loop, and fail on command. Real frames go both ways, each message with a separate
 * delay. The nodes outlive the daemon. Each life of the daemon gets a provider; it can be cut off
 * as if the daemon were killed.
 */
#ifndef NODEAGENT_PROTO_LINK_FAKE_H
#define NODEAGENT_PROTO_LINK_FAKE_H

#include "nodeagent-proto/link/provider.h"

struct fake_nodes;
struct fake_node;

/* Output that a running task writes, on a node that keeps files. */
struct fake_output {
    int64_t at_us; /* microseconds since the task's start */
    char *path;    /* absolute */
    char *text;
    size_t n;
};

/* The behaviour of a task. */
struct fake_task {
    int64_t run_us; /* run time until the task ends by itself */
    int exit_code;
    /* the processor time that the node reports for the task; 0: it measures nothing */
    int64_t user_us;
    bool ignores_term;
    int64_t dying_us; /* time between SIGKILL and the end of the task, to imitate a task that hangs
                         in the kernel; 0: short */
    const char *start_fails; /* the reason why the task cannot be started; NULL: it can */
    int64_t hold; /* not 0: the task runs, and `run_us` begins only when fake_let_go() is called
                   * with this number */
    /* Sorted by at_us; the list and its texts are malloc'ed, and owned by the task. */
    struct fake_output *outputs;
    size_t n_outputs;
};

/* Callbacks for events on nodes, called at once. `id` and `command` are borrowed for the call. */
struct fake_watch {
    void (*started)(void *ctx, struct fake_node *node, const char *id, const char *command);
    void (*ended)(void *ctx, struct fake_node *node, const char *id);
    void *ctx;
    /* the node was asked to reboot; its tasks still run */
    void (*rebooting)(void *ctx, struct fake_node *node);
};

struct fake_config {
    struct loop *loop; /* borrowed, like everything else here */
    const struct log *log;
    uint64_t seed;                      /* seed of delays and names */
    int64_t delay_min_us, delay_max_us; /* the delay of a message */
    int gpus;                           /* GPUs of each node: see fake_set_gpus() */
    /* The names of agents on machines, which run as root. An agent with this node root is named
     * HOST; further agents on a machine, with other node roots, are named HOST:ROOT. NULL: a
     * machine has one agent, which does not run as root. */
    const char *machine_root;
    /* Local nodes have files. Their roots are directories of this machine (fake_disk.h), and when a
     * root is removed, its node is removed. Their links have no sign-of-life checks, so that a test
     * knows all timers that are due. */
    bool keeps_files;
    const char *runtimes; /* container runtimes, as in struct node_facts; NULL: none */
    /* Plans a task; NULL: fake_read_command() does so. */
    void (*plan)(void *ctx, const struct fake_node *node, const struct task_spec *spec,
                 struct fake_task *out);
    /* Called when a node is reached for the first time, before its first message. May be NULL. */
    void (*met)(void *ctx, struct fake_node *node);
    struct fake_watch watch; /* any member may be NULL */
    void *ctx;               /* the first argument of plan() and met() */
};

struct fake_nodes *fake_nodes_create(const struct fake_config *c);
/* Before the call its providers must be freed, and all links closed. */
void fake_nodes_free(struct fake_nodes *f);

/* The command line "fake run=MS exit=N dying=MS stubborn" sets the behaviour of a task; the words
 * may have any order, and each is optional. With any other command line the task succeeds at once.
 */
void fake_read_command(const char *command, struct fake_task *out);

/* The daemon's end of the links; `loop` is the daemon's loop. One provider serves both local nodes,
 * which it finds by root, and machines, which it finds by host. */
struct node_provider *fake_provider_new(struct fake_nodes *f, struct loop *loop);
/* All links of the provider lose their nodes without notice: of the messages in transit to each
 * node only the first few arrive. */
void fake_provider_cut_off(struct node_provider *base);
void fake_provider_free(struct node_provider *p);

/* --- the nodes, in the order in which they were first reached -------------------------------- */
size_t fake_count(const struct fake_nodes *f);
struct fake_node *fake_at(const struct fake_nodes *f, size_t i);
const char *fake_name(const struct fake_node *n); /* root or host */
int64_t fake_id(const struct fake_node *n); /* the daemon's id of the node, from the last link */
/* Releases all tasks that wait for this number (fake_task.hold). Returns how many. */
int fake_let_go(struct fake_nodes *f, int64_t hold);
int fake_count_held(const struct fake_nodes *f, int64_t hold);
/* Whether a task of this id runs on the node. */
bool fake_runs(const struct fake_node *n, const char *task_id);
/* Calls `each` for every task that runs on any node. */
void fake_each_running(const struct fake_nodes *f,
                       void (*each)(void *ctx, struct fake_node *n, const char *id,
                                    const char *command),
                       void *ctx);
/* How often an event happened to the node that could make the daemon consider it lost: it was down,
 * hung, restarted or wiped, or its disk failed. */
int fake_troubles(const struct fake_node *n);
/* Like fake_troubles(), without the trouble that lasts now: the node is down or hung. */
int fake_troubles_over(const struct fake_node *n);

/* The node's links break; of the messages in transit, only the first few arrive. */
void fake_cut(struct fake_node *n);
/* `down`: the node cannot be reached, and its links break after `notice_us`; tasks continue. */
void fake_set_down(struct fake_node *n, bool down, int64_t notice_us);
/* `hung`: the node reads and sends nothing, but its links stay up; tasks continue. */
void fake_set_hung(struct fake_node *n, bool hung);
/* `secretive`: the node does not answer requests for the list of its tasks. */
void fake_set_secretive(struct fake_node *n, bool secretive);
/* The node refuses this many in a thousand requests with an I/O error. */
void fake_set_refusals(struct fake_node *n, int permille);
/* `bad`: the node refuses every request that touches its files with an I/O error. */
void fake_set_bad_disk(struct fake_node *n, bool bad);
/* `full`: the node refuses every request that creates files, and reports a full disk as its
 * health. */
void fake_set_full(struct fake_node *n, bool full);
/* The reason with which the node refuses every request that touches its files (copied); NULL: ends
 * this. */
void fake_set_refusing(struct fake_node *n, const char *why);
/* The node with the daemon's id `id`; NULL: there is no such node any more. */
struct fake_node *fake_by_id(const struct fake_nodes *f, int64_t id);
/* Sets the node's number of GPUs; the node reports it on the next link. */
void fake_set_gpus(struct fake_node *n, int gpus);
/* Ends the node's tasks and links, and gives it a new boot id. */
void fake_restart(struct fake_node *n);
/* Removes the node's root, tasks and all records, and gives it a new incarnation. */
void fake_wipe(struct fake_node *n);

#endif
