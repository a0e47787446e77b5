/* SPDX-License-Identifier: MIT
 *
 * The metrics of the site: a row for each, with the function that shows its samples. `make
 * docs-update` makes docs/metrics.md of these rows (test/tools/metrics_docs.py).
 */
#include "api/metrics/table.h"

#include <string.h>

#include "lib/loop.h"
#include "lib/version.h"
#include "model/enums.h"
#include "model/front_words.h"
#include "scheduler/front/front.h"
#include "scheduler/run/runs.h"
#include "scheduler/wake/wake.h"
#include "storage/folders/files.h"

/* --- the daemon ------------------------------------------------------------------------------- */

static void build(struct metric_text *t, const struct metric_facts *f)
{
    (void)f;
    metric_int(t, METRIC_LABELS("version", BATCHAID_VERSION), 1);
}

static void start_time(struct metric_text *t, const struct metric_facts *f)
{
    metric_us(t, METRIC_PLAIN, f->m->begun_us);
}

static void cpu(struct metric_text *t, const struct metric_facts *f)
{
    if (f->own.has_process)
        metric_us(t, METRIC_PLAIN, f->own.cpu_us);
}

static void memory(struct metric_text *t, const struct metric_facts *f)
{
    if (f->own.has_process)
        metric_int(t, METRIC_PLAIN, f->own.memory);
}

static void open_files(struct metric_text *t, const struct metric_facts *f)
{
    if (f->own.has_process)
        metric_int(t, METRIC_PLAIN, f->own.files);
}

static void open_files_max(struct metric_text *t, const struct metric_facts *f)
{
    if (f->own.has_process)
        metric_int(t, METRIC_PLAIN, f->own.files_max);
}

static void disk_free(struct metric_text *t, const struct metric_facts *f)
{
    if (f->own.has_disk)
        metric_int(t, METRIC_PLAIN, f->own.disk_free);
}

static void disk_size(struct metric_text *t, const struct metric_facts *f)
{
    if (f->own.has_disk)
        metric_int(t, METRIC_PLAIN, f->own.disk_size);
}

static void backup(struct metric_text *t, const struct metric_facts *f)
{
    metric_us(t, METRIC_PLAIN, f->own.backed_up_us);
}

static void certificates(struct metric_text *t, const struct metric_facts *f)
{
    int64_t site = f->m->certificate_ends_us(f->m->certificates, true);
    metric_us(t, METRIC_LABELS("certificate", "authority"),
              f->m->certificate_ends_us(f->m->certificates, false));
    if (site)
        metric_us(t, METRIC_LABELS("certificate", "site"), site);
}

/* --- the loop and its rooms ------------------------------------------------------------------- */

static void slow(struct metric_text *t, const struct metric_facts *f)
{
    metric_int(t, METRIC_LABELS("work", "request"), (int64_t)request_counters(f->r).slow);
    metric_int(t, METRIC_LABELS("work", "reconcile"), (int64_t)wakes_counts(f->m->wakes)->slow);
}

static void longest(struct metric_text *t, const struct metric_facts *f)
{
    metric_us(t, METRIC_LABELS("work", "request"), (int64_t)request_counters(f->r).longest_us);
    metric_us(t, METRIC_LABELS("work", "reconcile"),
              (int64_t)wakes_counts(f->m->wakes)->longest_us);
}

static void wakes(struct metric_text *t, const struct metric_facts *f)
{
    const struct wake_kind *kind;
    for (size_t i = 0; (kind = wakes_kind(f->m->wakes, i)); i++)
        metric_int(t, METRIC_LABELS("kind", kind->name), (int64_t)wakes_woken(f->m->wakes, kind));
}

static void commits(struct metric_text *t, const struct metric_facts *f)
{
    metric_int(t, METRIC_PLAIN, st_counters(f->m->storage)->commits);
}

static void rollbacks(struct metric_text *t, const struct metric_facts *f)
{
    metric_int(t, METRIC_PLAIN, st_counters(f->m->storage)->rollbacks);
}

static void syncs(struct metric_text *t, const struct metric_facts *f)
{
    metric_int(t, METRIC_PLAIN, st_counters(f->m->storage)->syncs);
}

static void checkpoints(struct metric_text *t, const struct metric_facts *f)
{
    metric_int(t, METRIC_PLAIN, st_counters(f->m->storage)->checkpoints);
}

/* --- requests --------------------------------------------------------------------------------- */

static void requests(struct metric_text *t, const struct metric_facts *f)
{
    static const char *const classes[] = {NULL, "1xx", "2xx", "3xx", "4xx", "5xx"};
    size_t n;
    const struct api_replies *replies = request_replies(f->r, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 1; k < sizeof classes / sizeof classes[0]; k++)
            if (replies[i].of_class[k])
                metric_int(t, METRIC_LABELS("service", replies[i].service, "code", classes[k]),
                           (int64_t)replies[i].of_class[k]);
}

static void received(struct metric_text *t, const struct metric_facts *f)
{
    metric_int(t, METRIC_PLAIN, (int64_t)request_counters(f->r).body_bytes);
}

static void connections(struct metric_text *t, const struct metric_facts *f)
{
    metric_int(t, METRIC_PLAIN, (int64_t)request_counters(f->r).connections);
}

static void share_calls(struct metric_text *t, const struct metric_facts *f)
{
    struct files_counts c;
    files_count(f->m->files, &c);
    metric_int(t, METRIC_LABELS("result", "done"), (int64_t)c.done);
    metric_int(t, METRIC_LABELS("result", "refused"), (int64_t)c.refused);
}

static void share_bytes(struct metric_text *t, const struct metric_facts *f)
{
    struct files_counts c;
    files_count(f->m->files, &c);
    metric_int(t, METRIC_PLAIN, (int64_t)c.bytes);
}

static void hung_shares(struct metric_text *t, const struct metric_facts *f)
{
    struct files_counts c;
    files_count(f->m->files, &c);
    metric_int(t, METRIC_PLAIN, (int64_t)c.hung);
}

/* --- machines --------------------------------------------------------------------------------- */

static void links(struct metric_text *t, const struct metric_facts *f)
{
    const struct fleet_counts *c = fleet_counts(f->m->fleet);
    metric_int(t, METRIC_LABELS("event", "opened"), (int64_t)c->opened);
    metric_int(t, METRIC_LABELS("event", "ready"), (int64_t)c->ready);
    metric_int(t, METRIC_LABELS("event", "lost"), (int64_t)c->lost);
}

/* The states in the metrics: first the states of machines without a node (enum machine_rest), then
 * those of nodes. */
enum node_shown {
    SHOWN_PREPARING = MACHINE_RESTS,
    SHOWN_IDLE,
    SHOWN_RUNNING,
    SHOWN_LEAVING,
    SHOWN_UNUSABLE,
    NODES_SHOWN
};
static const char *const shown_names[NODES_SHOWN] = {
    [MACHINE_FREE] = "free",         [MACHINE_DRAINED] = "drained",
    [MACHINE_UNKNOWN] = "unknown",   [MACHINE_UNREACHABLE] = "unreachable",
    [SHOWN_PREPARING] = "preparing", [SHOWN_IDLE] = "idle",
    [SHOWN_RUNNING] = "running",     [SHOWN_LEAVING] = "leaving",
    [SHOWN_UNUSABLE] = "unusable",
};

/* The state that is shown for nodes. A drained node that still runs something is shown as
 * running. */
static int shown_as(const struct pool_tally *n)
{
    switch (n->state) {
    case NODE_PREPARING:
        return SHOWN_PREPARING;
    case NODE_LEAVING:
        return SHOWN_LEAVING;
    case NODE_UNUSABLE:
        return SHOWN_UNUSABLE;
    case NODE_IDLE:
        break;
    }
    return n->runs ? SHOWN_RUNNING : n->off ? MACHINE_DRAINED : SHOWN_IDLE;
}

static void nodes(struct metric_text *t, const struct metric_facts *f)
{
    int64_t sums[2][NODES_SHOWN] = {{0}};
    static const char *const kinds[2] = {"machine", "local"};
    for (size_t i = 0; i < MACHINE_RESTS; i++)
        sums[0][i] = f->unclaimed[i].machines;
    for (size_t i = 0; i < f->n_nodes; i++)
        sums[f->nodes[i].local][shown_as(&f->nodes[i])] += f->nodes[i].nodes;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < NODES_SHOWN; i++)
            if (k == 0 || i >= SHOWN_PREPARING || i == MACHINE_DRAINED)
                metric_int(t, METRIC_LABELS("kind", kinds[k], "state", shown_names[i]), sums[k][i]);
}

/* The state that is shown for the free GPUs of nodes. On nodes that run something free GPUs are
 * idle, or drained if the node is drained. */
static int rest_shown_as(const struct pool_tally *n)
{
    int shown = shown_as(n);
    return shown != SHOWN_RUNNING ? shown : n->off ? MACHINE_DRAINED : SHOWN_IDLE;
}

static void gpus(struct metric_text *t, const struct metric_facts *f)
{
    int64_t sums[NODES_SHOWN] = {0}, taken = 0; /* in units of USAGE_GPU_UNIT */
    for (size_t i = 0; i < MACHINE_RESTS; i++)
        sums[i] = (int64_t)f->unclaimed[i].gpus * USAGE_GPU_UNIT;
    for (size_t i = 0; i < f->n_nodes; i++) {
        const struct pool_tally *n = &f->nodes[i];
        int64_t rest = (int64_t)n->gpus * USAGE_GPU_UNIT - n->taken_gpus;
        taken += n->taken_gpus;
        /* negative if a machine has lost GPUs that a run still has */
        sums[rest_shown_as(n)] += rest > 0 ? rest : 0;
    }
    metric_ms(t, METRIC_LABELS("state", "allocated"), taken);
    for (size_t i = 0; i < NODES_SHOWN; i++)
        if (i != SHOWN_RUNNING)
            metric_ms(t, METRIC_LABELS("state", shown_names[i]), sums[i]);
}

/* --- runs ------------------------------------------------------------------------------------- */

static void count_waiting(const struct metric_facts *f, const struct front *front, int64_t *waiting,
                          int64_t *held)
{
    *waiting = *held = 0;
    for (size_t i = 0; i < f->n_queues; i++)
        if (front_of(f->m->fronts, f->queues[i].kind) == front) {
            *waiting += f->queues[i].waiting;
            *held += f->queues[i].held;
        }
}

static void runs(struct metric_text *t, const struct metric_facts *f)
{
    for (struct front *const *p = f->m->fronts->all; *p; p++) {
        int active, ending;
        int64_t waiting, held;
        const char *kind = (*p)->words->run;
        runs_count_live(f->m->runs, *p, &active, &ending);
        count_waiting(f, *p, &waiting, &held);
        metric_int(t, METRIC_LABELS("kind", kind, "state", "waiting"), waiting);
        metric_int(t, METRIC_LABELS("kind", kind, "state", "held"), held);
        metric_int(t, METRIC_LABELS("kind", kind, "state", "running"), active);
        metric_int(t, METRIC_LABELS("kind", kind, "state", "ending"), ending);
    }
}

static void queues(struct metric_text *t, const struct metric_facts *f)
{
    for (size_t i = 0; i < f->n_queues; i++) {
        const struct queue_facts *q = &f->queues[i];
        const struct pool_place *p = facts_place(f, q->pool_id);
        if (q->waiting > 0 && p && p->group)
            metric_int(t,
                       METRIC_LABELS("kind", front_of(f->m->fronts, q->kind)->words->run,
                                     "subscription", p->subscription, "group", p->group, "home",
                                     p->home, "cluster", p->pool),
                       q->waiting);
    }
}

static void waits(struct metric_text *t, const struct metric_facts *f)
{
    for (struct front *const *p = f->m->fronts->all; *p; p++) {
        const struct run_wait_tally *w = runs_wait_tally(f->m->runs, *p);
        metric_histogram(t, METRIC_LABELS("kind", (*p)->words->run), runs_wait_bounds_s(), w->in,
                         RUN_WAIT_BOUNDS, w->sum_ms);
    }
}

static void oldest(struct metric_text *t, const struct metric_facts *f)
{
    int64_t since_ms, most = 0;
    struct err e;
    for (size_t i = 0; i < f->n_queues; i++)
        if (f->queues[i].oldest &&
            st_run_waits_since(f->m->storage, f->queues[i].oldest, &since_ms, &e) == 1 &&
            f->now_us / 1000 - since_ms > most)
            most = f->now_us / 1000 - since_ms;
    metric_ms(t, METRIC_PLAIN, most);
}

static void allocations(struct metric_text *t, const struct metric_facts *f)
{
    metric_int(t, METRIC_LABELS("event", "made"), st_counters(f->m->storage)->allocations);
    metric_int(t, METRIC_LABELS("event", "ended"), st_counters(f->m->storage)->released);
}

/* --- use -------------------------------------------------------------------------------------- */

#define OF_GROUP(l) METRIC_LABELS("subscription", (l)->subscription, "group", (l)->group)

/* Defines a function that shows a GPU time of each group, and of each person. */
#define GPU_VALUE(name, member)                                                                    \
    static void gpu_##name(struct metric_text *t, const struct metric_facts *f)                    \
    {                                                                                              \
        for (const struct use_line *l = f->groups.list; l < f->groups.list + f->groups.n; l++)     \
            metric_ms(t, OF_GROUP(l), l->sums.member);                                             \
    }                                                                                              \
    static void person_##name(struct metric_text *t, const struct metric_facts *f)                 \
    {                                                                                              \
        for (size_t i = 0; f->m->people && i < f->people.n; i++)                                   \
            metric_ms(t, METRIC_LABELS("person", f->people.list[i].person),                        \
                      f->people.list[i].sums.member);                                              \
    }

GPU_VALUE(time, gpu_ms)
GPU_VALUE(busy, busy_ms)
GPU_VALUE(idle, idle_ms)
GPU_VALUE(lost, lost_ms)
#undef GPU_VALUE

/* --- the table -------------------------------------------------------------------------------- */

const struct metric site_metrics[] = {
    {"batchaid_build", METRIC_INFO, "The version of the daemon.", build},
    {"batchaid_nodes", METRIC_GAUGE,
     "Machines of the inventory and local nodes by state: free (in no cluster), drained, "
     "unreachable, unknown (never reached), preparing, idle, running, leaving, unusable.",
     nodes},
    {"batchaid_gpus", METRIC_GAUGE,
     "GPUs by state: allocated to jobs, or the state of their node; a share of a GPU counts as a "
     "part.",
     gpus},
    {"batchaid_runs", METRIC_GAUGE,
     "Jobs and tasks by state: waiting for nodes, held (by dependencies or the limit of their "
     "array), running, ending. Each member of an array counts.",
     runs},
    {"batchaid_waiting_runs", METRIC_GAUGE,
     "Jobs and tasks that wait for nodes of a cluster or pool; home: its workspace, or account of "
     "Azure Batch. Clusters without any are not shown.",
     queues},
    {"batchaid_oldest_wait_seconds", METRIC_GAUGE,
     "How long the oldest job or task in a queue has waited; 0: none waits.", oldest},
    {"batchaid_wait_seconds", METRIC_HISTOGRAM,
     "How long jobs and tasks waited for their nodes before they began.", waits},
    {"batchaid_allocations", METRIC_COUNTER,
     "Parts of nodes that were given to jobs and tasks, and those that have ended.", allocations},
    {"batchaid_gpu_allocated_seconds", METRIC_COUNTER,
     "GPU time that was allocated to jobs and tasks, by the group of their cluster.", gpu_time},
    {"batchaid_gpu_busy_seconds", METRIC_COUNTER,
     "The part of it in which samples saw the GPUs work; every five minutes, and when the job "
     "ends.",
     gpu_busy},
    {"batchaid_gpu_idle_seconds", METRIC_COUNTER,
     "The part of it in which samples saw the GPUs idle; every five minutes, and when the job "
     "ends.",
     gpu_idle},
    {"batchaid_gpu_lost_seconds", METRIC_COUNTER,
     "The part of it that was lost because the job was queued again.", gpu_lost},
    {"batchaid_person_gpu_allocated_seconds", METRIC_COUNTER,
     "GPU time by person; this and the next three only with metrics.people.", person_time},
    {"batchaid_person_gpu_busy_seconds", METRIC_COUNTER,
     "The part of it in which samples saw the GPUs work.", person_busy},
    {"batchaid_person_gpu_idle_seconds", METRIC_COUNTER,
     "The part of it in which samples saw the GPUs idle.", person_idle},
    {"batchaid_person_gpu_lost_seconds", METRIC_COUNTER,
     "The part of it that was lost because the job was queued again.", person_lost},
    {"batchaid_links", METRIC_COUNTER, "Links to nodes: opened, ready, lost.", links},
    {"batchaid_http_requests", METRIC_COUNTER,
     "Replies by service (azblob and azfiles: storage) and class of status.", requests},
    {"batchaid_http_received_bytes", METRIC_COUNTER, "Bytes of bodies of requests.", received},
    {"batchaid_http_connections", METRIC_COUNTER, "Accepted connections.", connections},
    {"batchaid_share_calls", METRIC_COUNTER,
     "Calls of files of shares and containers: done, or refused because the share hangs.",
     share_calls},
    {"batchaid_share_read_bytes", METRIC_COUNTER, "Bytes read of shares and containers.",
     share_bytes},
    {"batchaid_hung_shares", METRIC_GAUGE, "Shares whose file system does not answer.",
     hung_shares},
    {"batchaid_loop_slow", METRIC_COUNTER,
     "Pieces of work that delayed everybody for more than 50 ms.", slow},
    {"batchaid_loop_longest_seconds", METRIC_GAUGE, "The longest piece of work since the start.",
     longest},
    {"batchaid_wakes", METRIC_COUNTER, "Runs of reconcilers.", wakes},
    {"batchaid_commits", METRIC_COUNTER, "Committed transactions.", commits},
    {"batchaid_rollbacks", METRIC_COUNTER, "Transactions that were rolled back.", rollbacks},
    {"batchaid_syncs", METRIC_COUNTER, "Syncs of the database to its disk.", syncs},
    {"batchaid_checkpoints", METRIC_COUNTER, "Checkpoints of the database.", checkpoints},
    {"batchaid_state_disk_free_bytes", METRIC_GAUGE,
     "Free bytes of the disk with the state directory.", disk_free},
    {"batchaid_state_disk_size_bytes", METRIC_GAUGE, "Its size.", disk_size},
    {"batchaid_backup_timestamp_seconds", METRIC_GAUGE,
     "When `batchaid backup` copied the database last; 0: never.", backup},
    {"batchaid_certificate_expiry_timestamp_seconds", METRIC_GAUGE,
     "When the certificates of the daemon's authority and of the site end.", certificates},
    {"process_start_time_seconds", METRIC_GAUGE, "When the daemon started.", start_time},
    {"process_cpu_seconds", METRIC_COUNTER, "Processor time of the daemon.", cpu},
    {"process_resident_memory_bytes", METRIC_GAUGE, "Its memory.", memory},
    {"process_open_fds", METRIC_GAUGE, "Its open files.", open_files},
    {"process_max_fds", METRIC_GAUGE, "The limit of its open files.", open_files_max},
    {0},
};
