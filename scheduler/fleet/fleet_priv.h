/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of scheduler/fleet/. Memory holds only the state that the database cannot
 * know: links (struct node_rt) and steps in progress. Everything else is made from rows, so a start
 * after kill -9 is not a special case.
 */
#ifndef SCHEDULER_FLEET_FLEET_PRIV_H
#define SCHEDULER_FLEET_FLEET_PRIV_H

#include <stdbool.h>

#include "lib/arena.h"
#include "lib/idmap.h"
#include "lib/loop_uv.h"
#include "model/failure.h"
#include "nodeagent-proto/link/provider.h"
#include "nodeagent-proto/login/login.h"
#include "scheduler/fleet/fleet.h"
#include "scheduler/fleet/node/node.h"
#include "scheduler/wake/wake.h"
#include "storage/storage.h"

/* A machine of the inventory, or a former machine that a node row still names: inventory.c.
 * drained, reason and the claim are copies of the rows; after a rollback they are read again. */
struct machine {
    int64_t id; /* of its row */
    char *name;
    const struct site_machine *site; /* borrowed; NULL: not in the inventory since the start */
    /* the present inventory does not contain it; `site` is from the last inventory that did */
    bool leaves;
    bool drained;
    /* a pool claimed it although its health command had failed, and no run has begun since: the
     * command has not succeeded yet. If claims are read from rows: its health command has drained
     * it, and no run was given its node */
    bool unproved;
    /* it is for dedicated pools, but low-priority pools may use it meanwhile */
    bool lends;
    char *reason;        /* why drained */
    int64_t node_id;     /* the node that claims it; 0: free */
    int64_t pool_id;     /* the pool of that node; 0: free */
    int64_t contact_us;  /* last contact; 0: never */
    char *facts;         /* node_facts_text(), or NULL */
    struct capacity has; /* slots 0: not known */
    char *trouble;       /* why it could not be reached or used at the last try; NULL: no problem */
    uint64_t changed;    /* see fleet_changes() */
    struct machine *next_retired;
};

/* Limits how many machines connect at the same time: node/connect.c. */
struct connect_turns {
    int connecting;               /* number of machines whose links are between open and ready */
    struct node_rt *first, *last; /* nodes that wait to connect, the oldest first */
};

/* A dedicated pool is short of machines of this size. */
struct machine_wish {
    int64_t pool_id;
    char *vm_size; /* owned */
};

struct fleet {
    struct fleet_config cfg; /* strings are owned */
    struct wakes *wakes;     /* borrowed, as are storage and log */
    struct storage *st;
    const struct log *log;
    struct machine_wish *wishes;
    size_t n_wishes;
    struct id_map nodes; /* struct node_rt *, owned; negative ids: orphaned node roots */
    int64_t last_orphan;
    struct loop_lane *trees;   /* removes and reads directories */
    struct machine **machines; /* owned, in the order of the inventory */
    size_t n_machines;
    struct machine *retired;   /* owned: machines that were removed, but that links may still use */
    struct id_map machine_ids; /* the machines by the ids of their rows */
    struct capacity local_has; /* the capacity of each local node; slots 0: not known */
    struct connect_turns turns;
    struct loop_timer *sampling;          /* owned; NULL: no node was sampled yet */
    int64_t sampling_us;                  /* when it is due (monotonic); 0: it is not set */
    const struct node_work *const *works; /* node_works */
    struct fleet_counts counts;
    /* see fleet_changes(); all_changed: its value when the list of machines changed */
    uint64_t changes;
    uint64_t all_changed;
    struct id_map reads; /* struct node_read * of pending reads: node/files.c */
    int64_t last_read;
    struct id_map forgets; /* struct task_forget *, owned: node/forget.c */
    int64_t last_forget;
    bool reads_ended;
    struct own_key *own_keys; /* owned: mount/own_shares.c */
    struct id_map servers;    /* struct server_work *, owned, by file server */
};

/* changes.c: calls struct fleet_events. */
void fleet_pool_changed(struct fleet *fl, int64_t pool_id);
void fleet_capacity_freed(struct fleet *fl, bool rolled_back);
void fleet_row_gone(struct fleet *fl);

/* --- machine/inventory.c, machines.c --------------------------------------------------------- */
/* Applies the inventory of `site` (NULL: no machines): makes the machines and, in one transaction,
 * their rows. The texts of `site` are borrowed. The first call comes before nodes are used. */
int machines_follow(struct fleet *fl, const struct site *site, struct err *e) MUST_CHECK;
/* Wakes the inventory (there is only one), so that machines_follow() is called again: after a
 * rollback, and when a machine that leaves is free. */
WAKE_KIND(woken_inventory, "inventory", WAKE_NODES);
#define THE_INVENTORY 1
void inventory_reconcile(void *ctx, int64_t id);
/* Takes the claims from rows, after the drains. */
void machines_note_claims(struct fleet *fl, const struct node_use *uses, size_t n);
void machines_free(struct fleet *fl);
/* Replaces an owned text by a copy of `text`; NULL: by none. */
void machine_text(char **field, const char *text);
struct machine *machine_find(const struct fleet *fl, int64_t id);
bool machine_serves(const struct machine *m, const char *vm_size, enum vm_priority priority);
/* The beginning of the reason of a drain by the health command. The command may undo such a drain;
 * a person's drains have other reasons. */
#define HEALTH_DRAIN_PREFIX "health check failed: "
bool machine_drained_by_health(const struct machine *m);
/* Records the holder of a machine, or that the node's row was removed. */
void machine_claim(struct machine *m, int64_t node_id, int64_t pool_id);
void machine_release(struct fleet *fl, int64_t node_id);
/* Called at the end of a transaction; after a rollback, reads the rows of machines again. */
void effect_reread_machines(void *ctx, int64_t id, const struct err *why);
/* Records the last contact of a machine, or its problem. Facts are written to its row. With facts
 * NULL the machine just answered; this is kept in memory only, like a problem. Any contact ends a
 * problem. */
void machine_contact(struct fleet *fl, struct machine *m, const struct node_facts *facts);
void machine_trouble(struct fleet *fl, struct machine *m, const char *why);
/* changes.c: for fleet_changes(). */
void machine_changed(struct fleet *fl, struct machine *m);
void machines_all_changed(struct fleet *fl);

/* --- node/capacity.c ------------------------------------------------------------------------- */
/* Records the capacity of a machine from the facts of its last contact. */
void machine_capacity_from_facts(struct fleet *fl, struct machine *m);

/* --- node/files.c, file_server.c: for wakes_handle() ------------------------------------------ */
/* Wakes reads of files on nodes, by their own numbers. */
WAKE_KIND(woken_node_read, "node read", WAKE_NODES);
void node_read_reconcile(void *ctx, int64_t id); /* the time of the read has ended */
void file_server_reconcile(void *ctx, int64_t id);

#endif
