/* SPDX-License-Identifier: MIT
 *
 * Fake nodes: agents in memory that keep what PROTOCOL.md promises (a task id starts once, ends are
 * told on every link until they are forgotten, requests may be repeated), run tasks in the time of
 * their loop, and fail on command. Real frames go both ways, each message delayed by itself.
 *
 * The nodes outlive the daemon that talks to them: a provider is made for each of its lives, and
 * may be cut off, as when the daemon is killed.
 */
#ifndef NODEAGENT_PROTO_LINK_FAKE_H
#define NODEAGENT_PROTO_LINK_FAKE_H

#include "nodeagent-proto/link/provider.h"

struct fake_nodes;
struct fake_node;

/* What a task does. */
struct fake_task {
    int64_t run_us; /* until it ends by itself */
    int exit_code;
    bool ignores_term;
    int64_t
        dying_us; /* between SIGKILL and its end, as of one that hangs in the kernel; 0: little */
    const char *start_fails; /* why it cannot be started; NULL: it can */
};

/* What happens on nodes, told at once. `id` and `command` are borrowed for the call. */
struct fake_watch {
    void (*started)(void *ctx, struct fake_node *node, const char *id, const char *command);
    void (*ended)(void *ctx, struct fake_node *node, const char *id);
    void *ctx;
};

struct fake_config {
    struct loop *loop; /* borrowed, as is all else */
    const struct log *log;
    uint64_t seed;                      /* of delays and names */
    int64_t delay_min_us, delay_max_us; /* of a message */
    int gpus;                           /* of a node: see fake_set_gpus() */
    /* NULL: see fake_read_command(). */
    void (*plan)(void *ctx, const struct task_spec *spec, struct fake_task *out);
    struct fake_watch watch; /* any member may be NULL */
    void *ctx;               /* of plan */
};

struct fake_nodes *fake_nodes_create(const struct fake_config *c);
/* Its providers are freed, and no link is open. */
void fake_nodes_free(struct fake_nodes *f);

/* A command line "fake run=MS exit=N dying=MS stubborn" says what the task does, words in any order
 * and each optional; of any other the task ends at once, well. */
void fake_read_command(const char *command, struct fake_task *out);

/* The daemon's side; `loop` is the daemon's. One provider serves local nodes, which are known by
 * their roots, and machines, known by their hosts. */
struct node_provider *fake_provider_new(struct fake_nodes *f, struct loop *loop);
/* All its links lose their nodes, without being told: of the messages under way to each node only
 * the first few arrive. */
void fake_provider_cut_off(struct node_provider *base);
void fake_provider_free(struct node_provider *p);

/* --- the nodes, in the order in which they were first reached -------------------------------- */
size_t fake_count(const struct fake_nodes *f);
struct fake_node *fake_at(const struct fake_nodes *f, size_t i);
const char *fake_name(const struct fake_node *n); /* root or host */
/* Whether a task of this id runs there. */
bool fake_runs(const struct fake_node *n, const char *task_id);
/* Calls `each` for every task that runs on any node. */
void fake_each_running(const struct fake_nodes *f,
                       void (*each)(void *ctx, struct fake_node *n, const char *id,
                                    const char *command),
                       void *ctx);
/* Something of what happened to the node could make the daemon take it for lost: it was down, hung,
 * restarted or wiped. Counted. */
int fake_troubles(const struct fake_node *n);

/* Its links go down; of the messages under way, only the first few arrive. */
void fake_cut(struct fake_node *n);
/* It cannot be reached, and its links go down after `notice_us`; tasks go on. */
void fake_set_down(struct fake_node *n, bool down, int64_t notice_us);
/* It reads nothing and says nothing, but its links stay up; tasks go on. */
void fake_set_hung(struct fake_node *n, bool hung);
/* So many in a thousand requests are refused with an I/O error. */
void fake_set_refusals(struct fake_node *n, int permille);
/* Whatever touches its files is refused with an I/O error. */
void fake_set_bad_disk(struct fake_node *n, bool bad);
/* So many GPUs, of which it tells on the next link. */
void fake_set_gpus(struct fake_node *n, int gpus);
/* Tasks and links are gone, the boot id is another. */
void fake_restart(struct fake_node *n);
/* Node root and tasks are gone, so is every record; the incarnation is another. */
void fake_wipe(struct fake_node *n);

#endif
