/* SPDX-License-Identifier: MIT
 *
 * What makes the world move. A set of level-triggered reconcilers: look at the desired state and
 * the actual one (both in the database), take the next step, write it down, repeat. Any reconciler
 * may run again at any time without harm; that is also how the daemon starts after kill -9: it
 * reads the database, opens a link to each node, asks which tasks it knows, and goes on.
 *
 * api/ writes rows through storage/ and wakes the reconcilers here; sched_turn() runs those that
 * were woken, in the same loop turn and so in the same transaction as the request. Effects on nodes
 * happen only once the decision is on disk (st_when_durable).
 *
 * Knows nothing of HTTP. Owns the node links; borrows storage, loop, log and clock.
 */
#ifndef SCHEDULER_SCHEDULER_H
#define SCHEDULER_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "lib/err.h"
#include "lib/log.h"
#include "lib/timefmt.h"
#include "model/resource.h"
#include "model/spec.h"
#include "scheduler/site.h"

struct sched;
struct storage;

struct sched_config {
    uv_loop_t *loop;
    struct storage *storage;
    const struct log *log;
    struct clock clock;
    const char *agent_path;            /* batchai-node */
    const char *nodes_dir;             /* local node roots are made below it */
    const char *storage_dir;           /* shares are folders below it: see sched_share_path() */
    int local_nodes;                   /* how many local nodes there may be in all */
    const char *const *local_vm_sizes; /* upper-case, NULL-terminated; NULL or empty: any */
    int autoscale_idle_s; /* how long a node idles before automatic scaling lets it go */
    int mount_timeout_s;  /* for one mount command; 0: 60 */
    int kill_timeout_s; /* for tasks to be gone after SIGKILL: then their node is unusable; 0: 60 */
    int kept_outputs;   /* of how many ended jobs a node keeps output on its own disk */
    const struct site *site; /* borrowed; NULL: the embedded default, local nodes only */
};

int sched_create(const struct sched_config *c, struct sched **out, struct err *e) MUST_CHECK;
/* Reads the database and resumes. */
int sched_start(struct sched *s, struct err *e) MUST_CHECK;
/* Closes the links (tasks go on), then calls `cb` and frees s. Until then the caller goes on
 * calling st_turn_end(), as callbacks of storage are waited for; sched_turn() does nothing any
 * more. */
void sched_stop(struct sched *s, void (*cb)(void *ctx), void *ctx);

/* Runs the reconcilers that were woken. Call at each turn end, before st_turn_end(). */
void sched_turn(struct sched *s);

/* Wakes the reconcilers: the cluster's scale, nodes or queue changed; a resource was marked as
 * deleting (st_mark_deleting). */
void sched_wake_cluster(struct sched *s, int64_t cluster_id);
void sched_wake_deletions(struct sched *s);

/* The user asks a queued or running job to stop. 1: under way (or done at once, for a queued job),
 * 0: it had already ended; -1: err. Finishes the job's non-delete operations when it has ended. */
int sched_job_terminate(struct sched *s, int64_t job_id, struct err *e) MUST_CHECK;

/* What a cluster's nodes are. Machines of the inventory that serve its vmSize with its vmPriority,
 * if there is any such machine: each is claimed by one cluster alone, as long as the node is there.
 * Else local nodes, if they serve the size. Never both: as long as a cluster has nodes, more of
 * them will be of their kind, whatever has become of the inventory.
 *
 * Local nodes are limited by configuration, and a cluster that asks for more is refused. Machines
 * are waited for: the cluster stays resizing, says in its errors who has them, and goes on when
 * they become free or the inventory grows. */

/* Refuses a size that is not served here, and more nodes than there can ever be. Target is the
 * property path. */
int sched_check_scale(const struct sched *s, const char *vm_size, enum vm_priority priority,
                      const struct scale *scale, struct err *e) MUST_CHECK;
/* The most nodes that a job of this cluster may ask for: with more it would wait for ever. */
int sched_most_nodes(const struct sched *s, const struct cluster *c);

/* --- the machines, as people who run them see them ------------------------------------------- */

/* A machine of the inventory, or a local node. Arena-owned texts; NULL where there is nothing. */
struct machine_view {
    const char *name;  /* the inventory's; the node's for a local one */
    const char *state; /* "unknown" (never reached), "free", "unreachable", or its node's state */
    bool is_local, drained;
    const char *reason; /* why drained, unreachable or unusable */
    const char *node, *cluster, *job;
    const char *const *vm_sizes; /* NULL-terminated; empty: any */
    enum vm_priority priority;
    int64_t contact_us; /* last contact; 0: never */
    bool has_facts;
    struct node_facts facts;
};

/* Every machine, in the order of the inventory, then local nodes. */
int sched_machines(struct sched *s, struct arena *a, struct machine_view **out, size_t *n,
                   struct err *e) MUST_CHECK;
/* By name. Drained: what runs there goes on, nothing new starts; the machine is not claimed again
 * and its idle node is no longer used, though it stays in its cluster. Undraining also tries an
 * unusable node again. ERR_MACHINE_NOT_FOUND; ERR_NOT_SUPPORTED for a local node. */
int sched_machine_drain(struct sched *s, const char *name, const char *reason,
                        struct err *e) MUST_CHECK;
int sched_machine_undrain(struct sched *s, const char *name, struct err *e) MUST_CHECK;
/* Asks the machine to restart; its node is prepared anew when it is back. ERR_CONFLICT while a job
 * runs there; ERR_NOT_SUPPORTED without root; ERR_UNAVAILABLE when there is no link to it, as to a
 * free machine. */
int sched_machine_reboot(struct sched *s, const char *name, struct err *e) MUST_CHECK;

/* Where people log in on a node. */
struct node_login {
    const char *address; /* arena-owned */
    int port;
};
void sched_node_login(struct sched *s, struct arena *a, const struct node *row,
                      struct node_login *out);

/* Who serves a file server. */
struct file_server_place {
    bool is_local;         /* `directory` is a folder of the daemon's storage */
    const char *host;      /* name or address; 127.0.0.1 for a local one */
    const char *directory; /* on that host */
    const char *options;   /* of mount(8), or NULL */
    const char *machine; /* of the inventory, that is to be made export it; NULL: it does already */
};
/* One is to be set up, by a machine (struct file_server_place): its row is creating. */
void sched_wake_file_server(struct sched *s, int64_t id);
/* False: nobody. Arena-owned texts. */
bool sched_file_server_place(const struct sched *s, struct arena *a, const struct file_server *f,
                             struct file_server_place *out);
/* --- output on the nodes' own disks ----------------------------------------------------------- */

/* An output directory of a job on one of its nodes. */
struct output_place {
    int64_t node_id;
    int rank;
    const char *node, *base; /* the node's name; the directory there */
    bool is_local;           /* a local node: what is on a share, the daemon sees too */
};

/* Where the output directory `id` ("stdouterr", or of the job's outputDirectories) is on the nodes
 * that the job runs on, or ran on as far as they are still in the cluster: by rank, arena-owned.
 * None while the job is queued. ERR_NOT_ON_MOUNT_ROOT, with a clause that says why, if it is on
 * none of them any more. The directory itself may not have been made yet. */
int sched_output_places(struct sched *s, struct arena *a, const struct job *job, const char *id,
                        struct output_place **out, size_t *n, struct err *e) MUST_CHECK;

/* What is at `path` below a place, with the rights of the job's account: see node_list_dir() and
 * node_read_file(). Answered once, later; what is lent is borrowed for the call.
 * ERR_FILE_NOT_FOUND, ERR_INVALID_PATH, ERR_IO; ERR_UNAVAILABLE (at once or later): the node cannot
 * be reached now. */
struct node_bytes;
typedef void (*sched_dir_cb)(void *ctx, const struct err *why, const struct node_dir_entry *list,
                             size_t n);
typedef void (*sched_bytes_cb)(void *ctx, const struct err *why, const struct node_bytes *got);
int sched_list_output(struct sched *s, const struct output_place *at, const char *path,
                      sched_dir_cb cb, void *ctx, struct err *e) MUST_CHECK;
int sched_read_output(struct sched *s, const struct output_place *at, const char *path,
                      int64_t offset, size_t max, sched_bytes_cb cb, void *ctx,
                      struct err *e) MUST_CHECK;
/* Answers all of them now, and every later one at once, with ERR_UNAVAILABLE: the daemon stops. */
void sched_end_looks(struct sched *s);

/* The folder behind an Azure file share or blob container: <storage_dir>/<account>/files/<share> or
 * .../blobs/<container>. Lower-case names. Arena-owned; the folder is not made. */
const char *sched_share_path(const char *storage_dir, struct arena *a,
                             const struct mount_volume *m);

#endif
