/* SPDX-License-Identifier: MIT
 *
 * A node, from the view of its users. They attach as tenants, several on one node if necessary, and
 * are informed when its link opens or breaks, when the node is given up, and when tasks have ended.
 */
#ifndef SCHEDULER_FLEET_NODE_NODE_H
#define SCHEDULER_FLEET_NODE_NODE_H

#include "model/failure.h"
#include "model/spec.h"
#include "nodeagent-proto/link/node.h"
#include "scheduler/fleet/fleet.h"

/* --- tenants of a node ------------------------------------------------------------------------ */

struct node_tenant;
struct script;

/* No member may be NULL, unless its comment allows it. These callbacks only note and wake; they
 * must not close the link or free the tenant. */
struct node_tenant_events {
    /* The link is up, and the node matches its row: requests can be sent. */
    void (*ready)(struct node_tenant *t);
    /* The link broke: pending requests over it are not answered any more. */
    void (*down)(struct node_tenant *t);
    /* The node was given up. The tenant is detached already. */
    void (*gone)(struct node_tenant *t);
    /* A task of the node has ended: returns true if it was the tenant's. */
    bool (*task_ended)(struct node_tenant *t, const struct task_status *st);
    /* A message of a remote command from the processes of the tenant with this `dir`. */
    void (*remote)(struct node_tenant *t, const struct remote_msg *m);
    /* A sample of the node, about the last `us` microseconds. May be NULL. */
    void (*sampled)(struct node_tenant *t, const struct node_sample *s, int64_t us);
};

/* The directory of all runs' directories, below a node's root; the agent defines the same name. */
#define RUNS_DIR "jobs"

/* Embedded in the tenant's struct for this node. */
struct node_tenant {
    const struct node_tenant_events *events;
    /* the tenant's directory below <root>/RUNS_DIR; no sweep removes it; borrowed */
    const char *dir;
    const char *gpus;     /* the numbers of its GPUs on the node: "0,2"; NULL: all; borrowed */
    const char *name;     /* for people; NULL: none; borrowed */
    struct node_rt *node; /* NULL: not attached */
    struct node_tenant *next;
};

/* Attaches a tenant. While a node has tenants, its link is kept open. */
void node_attach(struct node_rt *rt, struct node_tenant *t);
void node_detach(struct node_tenant *t);

/* --- the node --------------------------------------------------------------------------------- */

struct node_rt *node_rt_find(const struct fleet *fl, int64_t id); /* NULL: not in memory */
/* Finds the runtime of a row, or makes it; opens no link. */
struct node_rt *node_rt_get(struct fleet *fl, const struct node *row);

int64_t node_rt_id(const struct node_rt *rt);
const char *node_rt_name(const struct node_rt *rt);
const char *node_rt_root(const struct node_rt *rt);
bool node_rt_is_local(const struct node_rt *rt);
/* The directory that is hidden from users' commands on this node. `own`: volumes of this command
 * alone (NULL: none), in addition to those of the pool. */
struct task_confine node_rt_confine(const struct node_rt *rt, struct arena *a,
                                    const struct mount_list *own);
/* The numbers of the node's GPUs and cores, from its last hello. */
int node_rt_gpus(const struct node_rt *rt);
int node_rt_cores(const struct node_rt *rt);
/* Whether the node's GPUs are AMD's: these need other environment variables. */
bool node_rt_gpus_are_amd(const struct node_rt *rt);
/* The devices of the GPUs with these numbers; NULL: of all GPUs. In the arena. See
 * node_gpu_devices(). */
const char *node_rt_gpu_devices(const struct node_rt *rt, struct arena *a, const char *numbers);
const char *node_rt_container_runtime(const struct node_rt *rt); /* NULL: it has none */
bool node_rt_is_root(const struct node_rt *rt);                  /* whether its agent is root */
/* Asks for a link to a node that is unusable, and that would have no link otherwise. */
void node_rt_want_link(struct node_rt *rt);
/* Whether the accounts of users can be changed now: the link is up, and neither a preparation nor a
 * release changes accounts. */
bool node_rt_may_change_users(const struct node_rt *rt);
/* Why the node has no link; NULL if not known. */
const char *node_rt_why_down(const struct node_rt *rt);
/* The address at which other nodes reach the node: the machine's, or a loopback address. Each local
 * node has a different loopback address. `rt` may be NULL. */
const char *node_rt_address(const struct node_rt *rt);
/* The machine's name in the inventory; NULL: a local node. `rt` may be NULL. */
const char *node_rt_machine(const struct node_rt *rt);
/* The host name that the machine itself reports; NULL if not known. */
const char *node_rt_hostname(const struct node_rt *rt);
/* Whether each run has a separate account on the node. */
bool node_rt_has_accounts(const struct node_rt *rt);
/* The account of a run with the directory `dir` (below <root>/RUNS_DIR) on the node, as in
 * requests: an account for the run alone, or the account in the site's configuration. NULL: the
 * agent's. */
const char *node_rt_run_account(const struct node_rt *rt, struct arena *a, const char *dir);
/* Like node_rt_run_account(), for a run in a place that its front chose, with the directory
 * `dir`. */
const char *node_rt_place_account(const struct node_rt *rt, struct arena *a,
                                  const struct place_spec *place, const char *dir);
/* Adds a step that takes the account, unless the node is known to have it. `contained`: the run has
 * a container. */
void node_place_account_take_step(const struct node_rt *rt, struct arena *a, struct script *sc,
                                  const struct place_spec *place, const char *dir, bool contained);
/* Call after a task has run in that place. If several runs share its account, the account is
 * treated as taken until the link breaks or the node is prepared again. */
void node_rt_account_works(struct node_rt *rt, struct arena *a, const struct place_spec *place);
/* Adds steps for the users of the pool: accounts that can log in by name, on a machine whose agent
 * is root; otherwise the accounts of tasks, if a key or numbers were given for them. */
void node_users_step(const struct node_rt *rt, struct arena *a, struct script *sc,
                     const struct node_setup_spec *s);
struct request_user_add node_user_of(const struct admin_user_spec *u);
/* Writes `sudo` for administrators, and returns its directory. */
const char *node_sudo_step(const struct node_rt *rt, struct arena *a, struct script *sc);
/* The account of a run. */
struct node_account {
    const char *dir;        /* the run's, below <root>/RUNS_DIR */
    const char *first_root; /* root of the run's first node; it may be on this machine, too */
    bool contained;         /* the run has a container */
    bool may_fail;          /* the step that takes the account may fail */
};
/* Add steps to `sc` that take this account, and that release it (`dir` NULL: release all). They add
 * nothing on nodes without such accounts. */
void node_account_take_step(const struct node_rt *rt, struct arena *a, struct script *sc,
                            const struct node_account *of);
/* Like node_account_take_step(), for an account with the name `name` and the directory `dir` below
 * the node's root. */
void node_account_take_at(const struct node_rt *rt, struct arena *a, struct script *sc,
                          const char *name, const char *dir, bool contained);
void node_account_release_step(const struct node_rt *rt, struct arena *a, struct script *sc,
                               const char *dir);

/* The link for requests; NULL: there is none now. */
struct node_link *node_rt_link(const struct node_rt *rt);
/* Whether requests can be sent: the link is up, and its hello was compared with the row. */
bool node_rt_usable(const struct node_rt *rt);

/* The node answers, but fails at a basic request: treats the link as broken. The node's work is
 * continued over the next link. Must not be called inside a reply. */
void node_rt_distrust(struct node_rt *rt, const char *why);
/* Whether this is a local node that the next loss would make unusable. */
bool node_rt_nearly_lost(const struct node_rt *rt);
/* A task of an attached tenant cannot be ended on this node. The node gets no more work; the tenant
 * is detached and gets the report that the node is gone. Other tenants continue. */
void node_give_up(struct node_tenant *t, const struct failure *why);
/* `task` was killed at *since_us (0: just now; the instant is stored there) and has not ended.
 * True: this takes too long; *why is the reason. False: the limit is at *until_us. */
bool node_kill_is_overdue(const struct node_rt *rt, const char *task, int64_t *since_us,
                          int64_t *until_us, struct arena *a, struct failure *why);

#endif
