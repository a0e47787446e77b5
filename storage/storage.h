/* SPDX-License-Identifier: MIT
 *
 * The database: one SQLite file in WAL mode, one writer connection on the loop thread.
 *
 * Group commit. The first write of a loop turn opens a transaction, every further write of the turn
 * joins it, st_turn_end() commits it. COMMIT itself does not sync (synchronous=NORMAL): a separate
 * thread calls fdatasync() on the WAL, and one sync covers every commit before it, so no request
 * waits on the loop for a sync. No result may leave the daemon before it is on disk: replies and
 * commands to nodes wait for st_when_durable(). A failed fdatasync ends the process, because the
 * kernel may have dropped the pages. Checkpoints have another thread, except that the loop moves
 * the rest of a checkpoint itself when the WAL has grown too long (checkpoint.c).
 *
 * Reads see the writes of the current turn. Rows are filled from the caller's arena; lists are
 * arrays in the arena. Getters return 1 (found), 0 (not found) or -1 (err). Names compare without
 * regard to case, as in Azure. All writes return 0 or -1; a guarded write fails with ERR_CONFLICT
 * and changes nothing if the present state is not the caller's.
 *
 * If one statement does all the work of a function, the function is declared in
 * storage/sql/NAME.sql; the build generates storage/sql/NAME.h and the function itself from it
 * (docs/architecture.md).
 *
 * Independent of HTTP, JSON (doc, secrets, tags and errors are opaque text) and nodes.
 */
#ifndef STORAGE_STORAGE_H
#define STORAGE_STORAGE_H

#include <stdint.h>

#include "lib/arena.h"
#include "lib/err.h"
#include "lib/log.h"
#include "lib/loop.h"
#include "model/resource.h"
#include "model/states.h"
#include "model/usage.h"
#include "storage/accounts.h"
#include "storage/batch.h"
#include "storage/item_changes.h"
#include "storage/page.h"
#include "storage/runs.h"
#include "storage/sql/allocation.h"
#include "storage/sql/batch_package.h"
#include "storage/sql/cluster.h"
#include "storage/sql/delete.h"
#include "storage/sql/event.h"
#include "storage/sql/file_server.h"
#include "storage/sql/group.h"
#include "storage/sql/item.h"
#include "storage/sql/job.h"
#include "storage/sql/machine.h"
#include "storage/sql/meta.h"
#include "storage/sql/node.h"
#include "storage/sql/operation.h"
#include "storage/sql/people.h"
#include "storage/sql/pool.h"
#include "storage/sql/rows.h"
#include "storage/sql/snapshot.h"
#include "storage/sql/uncommitted.h"
#include "storage/sql/vault.h"
#include "storage/sql/workspace.h"

struct storage;

/* While an opening takes long, `tell` is called again and again with what is being done, such as
 * "migrating the database"; with NULL when this is over. */
struct st_opening {
    void (*tell)(void *ctx, const char *doing);
    void *ctx;
};

struct st_config {
    const char *path;     /* database file; its directory must exist */
    const char *key_path; /* 32-byte key that seals secrets; made (0600) if missing */
    struct loop *loop;    /* borrowed */
    /* the random part of the epoch (8 hexadecimal digits); NULL: chosen at random */
    const char *random;
    const struct log *log; /* borrowed */
    bool without_sync;     /* data need not survive: writes are durable at once, without a sync */
    int64_t large_bytes;   /* from this size on a check does not delay the start; 0: 256 MiB */
    const struct st_opening *told; /* borrowed until st_open() returns; NULL: nobody */
};

/* Opens, checks (quick_check and foreign_key_check; checks of a large database continue beside the
 * work, and damage then ends the process), migrates. ERR_SCHEMA_TOO_NEW, ERR_SCHEMA_TOO_OLD:
 * written by a newer version, or by a version before 1.0.0; nothing was changed. */
int st_open(const struct st_config *c, struct storage **out, struct err *e) MUST_CHECK;

/* Reports the progress of a copy, in bytes; `all` 0: the copy is being checked. */
struct st_copying {
    void (*tell)(void *ctx, int64_t done, int64_t all);
    void *ctx;
};
/* Copies the database at `path` into the new file `to`, mode 0600; a daemon may be using it. The
 * secrets in it are sealed; the key is not in it. `told` may be NULL. Blocks. */
int st_backup(const char *path, const char *to, const struct st_copying *told,
              struct err *e) MUST_CHECK;
/* Replaces the database at `path` by a copy; nobody must be using it. The old database is kept as
 * PATH.before. Refuses a copy that is damaged, newer than this program or sealed with another key
 * than the key in key_path, and then changes nothing. Ends sessions of browsers. Blocks. */
int st_restore(const char *path, const char *key_path, const char *from,
               const struct st_copying *told, struct err *e) MUST_CHECK;

/* Commits, syncs, checkpoints and closes; calls `cb` when done. Frees st. */
void st_close(struct storage *st, void (*cb)(void *ctx), void *ctx);

/* Commits the turn's writes and starts a sync if none is running. Call at the end of each loop turn
 * (prepare and check). Cheap without writes. */
void st_turn_end(struct storage *st);

/* Runs `fn` in a savepoint of the turn's transaction: if it returns -1, all its writes are
 * undone. */
typedef int (*st_tx_fn)(struct storage *st, void *ctx, struct err *e);
int st_tx(struct storage *st, const char *name, st_tx_fn fn, void *ctx, struct err *e) MUST_CHECK;
/* Runs `fn` without a savepoint: for a savepoint SQLite copies each page that it may have to
 * restore, and this costs more than most writes. If `fn` returns -1 after a row was written, the
 * whole turn is rolled back. Use it for writes that were checked before and can only fail because
 * of the disk. */
int st_whole(struct storage *st, st_tx_fn fn, void *ctx, struct err *e) MUST_CHECK;

/* Calls `cb` when all writes so far are on disk; at the next turn end if none is pending. `why` is
 * NULL on success; after a failed COMMIT (disk full) it has the reason, and all writes of the turn
 * are lost. Callbacks run in the order they were registered. */
typedef void (*st_durable_cb)(void *ctx, const struct err *why);
void st_when_durable(struct storage *st, st_durable_cb cb, void *ctx);
/* Calls `cb` when the turn's writes survive the daemon, but perhaps not the machine. */
void st_when_committed(struct storage *st, st_durable_cb cb, void *ctx);

/* True while some writes are not yet on disk. */
bool st_has_pending(const struct storage *st);

/* Counts since st_open(). */
struct st_counters {
    int64_t commits, rollbacks, syncs, checkpoints, statements;
    /* made; ended (released or lost). A rollback does not reduce them */
    int64_t allocations, released;
};
const struct st_counters *st_counters(const struct storage *st);

int st_workspace_list(struct storage *, struct arena *, const struct st_filter *,
                      const struct st_page *page, struct workspace_rows *rows, struct err *);

/* Moves a file server from a provisioning state by a legal event; ERR_CONFLICT if it is in another
 * state. */
int st_file_server_move(struct storage *, int64_t id, enum prov_state from, enum prov_event ev,
                        int64_t now_us, struct err *);
int st_file_server_list(struct storage *, struct arena *, const struct st_filter *,
                        const struct st_page *page, struct file_server_rows *rows, struct err *);

/* --- clusters ------------------------------------------------------------------------------ */
int st_cluster_insert(struct storage *, const struct cluster *c, const char *secrets, int64_t *id,
                      struct err *);
/* Updates doc, scale and updated_us of an existing cluster. */
int st_cluster_update_scale(struct storage *, const struct cluster *c, struct err *);
int st_cluster_get(struct storage *, struct arena *, int64_t workspace_id, const char *name,
                   struct cluster *out, struct err *);
int st_cluster_by_id(struct storage *, struct arena *, int64_t id, struct cluster *out,
                     struct err *);
int st_cluster_list(struct storage *, struct arena *, const struct st_filter *,
                    const struct st_page *page, struct cluster_rows *rows, struct err *);

/* The failure of one index of an array job, which continues. The job has no failure yet. */
struct st_job_failure {
    int64_t id;
    bool has_exit_code;
    int exit_code;
    const char *errors;
};

/* --- jobs ---------------------------------------------------------------------------------- */
int st_job_insert(struct storage *, const struct job *j, const char *secrets, int64_t *id,
                  struct err *);
int st_job_get(struct storage *, struct arena *, int64_t experiment_id, const char *name,
               struct job *out, struct err *);
/* Calls `fn` for each job whose row changes, during the write, whatever statement writes. Calls it
 * with ST_ANY_JOB when rows may have got old values back (a rollback), and when a parent of jobs
 * changes. Not called for the row of a job's run. There may be one watcher; `fn` must not use the
 * storage. */
#define ST_ANY_JOB 0
typedef void (*st_job_changed_fn)(void *ctx, int64_t id);
void st_watch_jobs(struct storage *, st_job_changed_fn fn, void *ctx);
/* A guarded move of a job's execution state (ERR_CONFLICT if it is not `from`); the only function
 * that writes the state. */
struct st_job_move {
    int64_t id;
    enum exec_state from, to;
    int64_t now_us;
    int64_t start_us; /* 0: unchanged; -1: clear (requeue) */
    int64_t end_us;   /* 0: unchanged */
    bool has_exit_code;
    int exit_code;
    const char *errors; /* NULL: unchanged */
    int failure;        /* enum failure_code of `errors`; 0: none */
    const char *reason; /* for the event; NULL: the failure's name */
};
int st_job_move(struct storage *, const struct st_job_move *m, struct err *) MUST_CHECK;

/* --- nodes --------------------------------------------------------------------------------- */
/* ERR_CONFLICT if another node has claimed its machine. */
int st_node_insert(struct storage *, const struct node *nd, int64_t *id, struct err *);

/* The use of a node, with displayed names. */
struct node_use {
    int64_t node_id, pool_id, machine_id; /* machine_id 0: a local node */
    const char *node;
    const char *pool, *workspace; /* for Azure Batch: the pool's account */
    /* names of jobs ("A, B"), or of tasks, that have runs there; NULL: none */
    const char *runs;
    enum node_state state;
    int live; /* how many live allocations */
    /* no run that still has a row was ever given the node; not in st_node_uses_brief() */
    bool unused;
    enum vm_priority vm_priority;
    const char *why;            /* why the node is unusable; NULL: it is usable */
    struct capacity has, taken; /* taken: by its allocations */
};

/* A guarded move of a node's state (ERR_CONFLICT if it is not `from`); the only function that
 * writes the state. */
struct st_node_move {
    int64_t id;
    enum node_state from, to;
    int64_t now_us;
    const char *errors;  /* replaces the old errors; NULL: the node has no errors */
    const char *why;     /* message of the last of `errors`; NULL: none */
    int failure;         /* enum failure_code of the last of `errors`; 0: unchanged */
    const char *reason;  /* for the event; NULL: the failure's name */
    enum node_wish wish; /* the node must have this request now; WISH_NOTHING: any, and a request in
                            progress ends when the node is idle or unusable */
    bool emptied;        /* the files of its runs were removed */
};
int st_node_move(struct storage *, const struct st_node_move *m, struct err *) MUST_CHECK;
/* ERR_CONFLICT while it holds an allocation. */
int st_node_remove(struct storage *, int64_t id, struct err *);

/* A guarded move of a pool's allocation state (ERR_CONFLICT if it is not `from`); the only function
 * that writes the state. Afterwards the pool is not new any more. */
struct st_pool_move {
    int64_t id;
    enum resource_kind kind; /* the pool's */
    enum alloc_state from, to;
    int64_t now_us;
    const char *reason;
};
int st_pool_move(struct storage *, const struct st_pool_move *m, struct err *) MUST_CHECK;
/* The place of a pool, with displayed names. home: its workspace, or account of Azure Batch. */
struct pool_place {
    const char *subscription, *group, *home, *pool; /* NULL: the parent was deleted */
};

/* --- allocations ---------------------------------------------------------------------------- */
/* Inserts all rows or none. They are live (held) until they are released or lost. ERR_CONFLICT if a
 * run would have two parts of one node, or if a node is not idle or has less free capacity. */
int st_allocation_insert(struct storage *, const struct allocation *rows, size_t n, struct err *);
/* The beginning of the ids of tasks of a run's attempt on the node with this rank, for an
 * allocation made now: "GUID-ATTEMPT-TERM.RANDOM-RANK-". No id is ever reused, even after a
 * restored backup. */
const char *st_task_prefix(struct storage *, struct arena *, const struct run *r, int rank);
/* A guarded move of an allocation from al->state (ERR_CONFLICT if it is in another state). It also
 * writes the record of use (storage/usage.h). */
struct allocation_end {
    enum allocation_state to;
    int64_t now_us;
    int64_t held_us;          /* how long it lasted on the monotonic clock; 0: not known */
    bool again;               /* the run is put back into its queue */
    int64_t busy_us, idle_us; /* of each of its GPUs on average; usage_sampled() */
    struct usage_measured used;
};
int st_allocation_move(struct storage *, const struct allocation *al,
                       const struct allocation_end *end, struct err *) MUST_CHECK;
/* Sets whether the node keeps the run's directory. A node keeps the `keep` latest directories, in
 * the order of these calls; rows of older ones are set to not kept. */
int st_allocation_keep(struct storage *, const struct allocation *al, bool kept, int keep,
                       struct err *);
/* The directories that a node keeps. */
struct kept_dir {
    int64_t run_id;
    int attempt, rank;
    const char *name; /* "GUID-ATTEMPT" */
};

/* --- epochs --------------------------------------------------------------------------------- */
/* The epoch of this start. It was on disk before st_open() returned. Borrowed from `st`. */
const struct epoch *st_epoch(const struct storage *st);

/* --- events --------------------------------------------------------------------------------- */
/* Moves of jobs, nodes and pools add their events themselves. The latest hundred of each resource
 * are kept, and are removed with it. */
int st_event_add(struct storage *, const struct event *ev, struct err *) MUST_CHECK;
/* The number up to which all events are on disk: those with higher numbers may still be undone. */
int64_t st_events_on_disk(const struct storage *);
/* Calls `fn` each time when this number has grown, also while the storage closes. There may be one
 * watcher. */
typedef void (*st_events_fn)(void *ctx, int64_t on_disk);
void st_watch_events(struct storage *, st_events_fn fn, void *ctx);
/* Calls `fn` before the row of a resource with events is removed, and its events with it: inside
 * the transaction, which may still be undone. `fn` may read. There may be one watcher; NULL:
 * none. */
typedef void (*st_removal_fn)(void *ctx, enum resource_kind kind, int64_t id);
void st_watch_removals(struct storage *, st_removal_fn fn, void *ctx);

/* Makes the row of this share and path, or replaces it; its tags can be found from then on. i->id
 * is not used. */
int st_item_put(struct storage *, const struct share_item *i, struct err *) MUST_CHECK;
/* Removes the row of one path, if there is one, and its kept bytes. */
int st_item_remove(struct storage *, int64_t share_id, const char *path, struct err *);
/* Removes the rows of a path and of all paths below it ("a" and "a/b", not "ab"). */
int st_item_remove_tree(struct storage *, int64_t share_id, const char *path, struct err *);
/* Moves the rows of a path and of all paths below it to new paths. */
int st_item_move_tree(struct storage *, int64_t share_id, const char *from, const char *to,
                      struct err *);
/* Rows with `from` <= path < `to` in the order of bytes, at most `limit`; aside: only blobs whose
 * names are not possible as file names. */
int st_item_list(struct storage *, struct arena *, int64_t share_id, bool aside,
                 const struct st_paths *page, struct share_item_rows *rows, struct err *);

/* --- blobs with uncommitted blocks only --- */
/* The time of a row is at most this much earlier than the last block of its blob. */
#define ST_UNCOMMITTED_NEW_US INT64_C(86400000000)
/* Records that a block of the blob was put, unless there is a record of that day. */
int st_uncommitted_add(struct storage *, int64_t share_id, const char *path, int64_t now_us,
                       struct err *);

/* --- machines ------------------------------------------------------------------------------ */
/* Finds the machine of this name, or makes its row. */
int st_machine_put(struct storage *, const char *name, int64_t *id, struct err *);

/* --- deletion ------------------------------------------------------------------------------ */
/* Marks a resource and everything in it as deleting (idempotent). It may contain any number of
 * jobs, so only jobs with nodes are marked themselves. All other jobs are covered by the mark of
 * their experiment: no queue shows them any more. */
int st_mark_deleting(struct storage *, enum resource_kind kind, int64_t id, int64_t now_us,
                     struct err *);
/* Removes a row. ERR_CONFLICT while it has children. A removed cluster's jobs stay, with cluster_id
 * 0. Completes the resource's operations as succeeded: its deletion, and any other operation that
 * cannot complete any more (a terminate). */
int st_remove(struct storage *, enum resource_kind kind, int64_t id, int64_t now_us, struct err *);
/* Ids of resources of a kind that are in state deleting and are empty (a cluster: no nodes; a
 * workspace: no experiments, clusters, file servers; ...), so st_remove() would succeed. Jobs are
 * never in this list: the scheduler ends them itself. */
int st_removable_ids(struct storage *, struct arena *, enum resource_kind kind, int64_t **ids,
                     size_t *n, struct err *);
/* Jobs without nodes that must be removed, at most `limit`: marked jobs, then jobs of marked
 * experiments. */
struct doomed_job {
    int64_t id, run_id; /* of its first run */
    int runs;
    int64_t cluster_id;   /* 0: its cluster was deleted */
    bool with_experiment; /* doomed only by the mark of its experiment */
};
/* Removes the runs of marked experiments from the queues. Each call handles some `limit` runs, so
 * its time is bounded. *at is the position; it begins zeroed. 1: there may be more; 0: that was
 * all; -1: err. */
struct st_doom {
    int64_t experiment_id, job_id;
};
int st_doom_runs(struct storage *, struct st_doom *at, int limit, struct err *) MUST_CHECK;

/* --- key vaults ---------------------------------------------------------------------------- */
/* Soft-deleted vaults have separate lists. */
int st_vault_list(struct storage *, struct arena *, const struct st_filter *,
                  const struct st_page *page, struct vault_rows *rows, struct err *);

/* `version` NULL: the newest. Finds soft-deleted secrets too. */
int st_secret_version_get(struct storage *, struct arena *, int64_t vault_id, const char *name,
                          const char *version, struct secret_version *out, struct err *);
/* The newest version of each secret of a vault, in the order of the secrets' ids; page->after is
 * such an id. */
int st_secret_list(struct storage *, struct arena *, int64_t vault_id, bool deleted,
                   const struct st_page *page, struct secret_version_rows *rows, struct err *);
/* st_wrap() seals a text with the storage's key for a client to keep, in characters of URLs; the
 * caller frees it. st_unwrap() opens such a text with that key; ERR_INVALID_CONTENT. */
char *st_wrap(const struct storage *, const char *plain);
int st_unwrap(const struct storage *, struct arena *, const char *wrapped, const char **plain,
              struct err *) MUST_CHECK;
/* Frees the name of a soft-deleted vault and removes its role assignments; st_vault_expire()
 * removes the vault and its secrets. ERR_RESOURCE_NOT_FOUND if it is not soft-deleted. */
int st_vault_purge(struct storage *, int64_t id, int64_t now_us, struct err *);
/* Removes a soft-deleted secret, and ends the role assignments at it. */
int st_secret_purge(struct storage *, int64_t id, struct err *) MUST_CHECK;
/* Purges soft-deleted vaults and secrets after their retention, at most `limit` rows; *gone is how
 * many. */
int st_vault_expire(struct storage *, int64_t now_us, int limit, int *gone, struct err *);

/* Removes a principal with its credentials and role assignments. */
int st_identity_remove(struct storage *, const struct identity *i, struct err *);

/* Removes an additional subscription with its role assignments. */
int st_subscription_remove(struct storage *, int64_t id, struct err *);

/* 1: there are credentials of principals other than the first; 0: there are none; -1: err. */
int st_credential_any(struct storage *, struct err *) MUST_CHECK;

/* A session of a browser that its owner has ended. Without that, its cookies would have been valid
 * until `until_us`. */
struct st_ended_session {
    const char *principal, *id;
    int64_t begun_us, now_us, until_us;
};
int st_session_end(struct storage *st, const struct st_ended_session *s, struct err *e) MUST_CHECK;

#endif
