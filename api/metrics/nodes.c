/* SPDX-License-Identifier: MIT
 *
 * Metrics of machines and local nodes. A value that could not be read has no sample, because 0
 * would be wrong.
 */
#include "api/metrics/nodes.h"

#include <stdio.h>

#include "api/metrics/metrics.h"
#include "api/metrics/rows.h"
#include "scheduler/fleet/fleet.h"

#define OF_NODE(m) METRIC_LABELS("node", (m)->name)
#define PRESSURES  3

struct number_text {
    char text[12];
};
static struct number_text text_of(int n)
{
    struct number_text out;
    snprintf(out.text, sizeof out.text, "%d", n);
    return out;
}

/* --- machines --------------------------------------------------------------------------------- */

static void info(struct metric_text *t, const void *row)
{
    const struct machine_view *m = row;
    const struct node_facts *f = &m->facts;
    metric_int(t,
               METRIC_LABELS("node", m->name, "cluster", m->pool, "os", m->has_facts ? f->os : "",
                             "arch", m->has_facts ? f->arch : "", "agent",
                             m->has_facts ? f->agent_version : ""),
               1);
}

static void state(struct metric_text *t, const void *row)
{
    const struct machine_view *m = row;
    metric_int(t, METRIC_LABELS("node", m->name, "state", m->state), 1);
}

static void drained(struct metric_text *t, const void *row)
{
    const struct machine_view *m = row;
    metric_int(t, OF_NODE(m), m->drained);
}

static void contact(struct metric_text *t, const void *row)
{
    const struct machine_view *m = row;
    if (m->contact_us)
        metric_us(t, OF_NODE(m), m->contact_us);
}

static void gpus(struct metric_text *t, const void *row)
{
    const struct machine_view *m = row;
    if (m->has.cores)
        metric_int(t, OF_NODE(m), m->has.gpus);
}

static void gpus_taken(struct metric_text *t, const void *row)
{
    const struct machine_view *m = row;
    if (m->has.cores)
        metric_int(t, OF_NODE(m), m->taken.gpus);
}

/* Defines a function that shows one value of a machine's last sample, if the value is known. */
#define NODE_VALUE(function, member, show)                                                         \
    static void function(struct metric_text *t, const void *row)                                   \
    {                                                                                              \
        const struct machine_view *m = row;                                                        \
        if (m->sample && m->sample->member != SAMPLE_UNKNOWN)                                      \
            show(t, OF_NODE(m), m->sample->member);                                                \
    }
NODE_VALUE(cpu, cpu_permille, metric_ms)
NODE_VALUE(memory_used, memory_used, metric_int)
NODE_VALUE(memory_total, memory_total, metric_int)
NODE_VALUE(disk_free, disk_free, metric_int)
NODE_VALUE(disk_total, disk_total, metric_int)
NODE_VALUE(disk_read, disk_read, metric_int)
NODE_VALUE(disk_written, disk_written, metric_int)
NODE_VALUE(network_in, network_in, metric_int)
NODE_VALUE(network_out, network_out, metric_int)

static void pressure(struct metric_text *t, const void *row)
{
    const struct machine_view *m = row;
    if (!m->sample)
        return;
    const struct {
        const char *of;
        int64_t permille;
    } all[PRESSURES] = {{"cpu", m->sample->pressure_cpu},
                        {"memory", m->sample->pressure_memory},
                        {"io", m->sample->pressure_io}};
    for (size_t i = 0; i < PRESSURES; i++)
        if (all[i].permille != SAMPLE_UNKNOWN)
            metric_ms(t, METRIC_LABELS("node", m->name, "of", all[i].of), all[i].permille);
}

static void sampled(struct metric_text *t, const void *row)
{
    const struct machine_view *m = row;
    if (m->sample)
        metric_us(t, OF_NODE(m), m->sample->at_us);
}

/* --- GPUs ------------------------------------------------------------------------------------- */

#define OF_GPU(m, g)                                                                               \
    METRIC_LABELS("node", (m)->name, "gpu", text_of((g)->index).text, "uuid",                      \
                  (g)->last ? (g)->last->uuid : "")

static void gpu_state(struct metric_text *t, const void *row)
{
    const struct machine_view *m = row;
    for (const struct gpu_view *g = m->gpus; g < m->gpus + m->n_gpus; g++)
        metric_int(t,
                   METRIC_LABELS("node", m->name, "gpu", text_of(g->index).text, "uuid",
                                 g->last ? g->last->uuid : "", "state", gpu_state_names[g->state]),
                   1);
}

#define GPU_VALUE(function, member, show)                                                          \
    static void function(struct metric_text *t, const void *row)                                   \
    {                                                                                              \
        const struct machine_view *m = row;                                                        \
        for (const struct gpu_view *g = m->gpus; g < m->gpus + m->n_gpus; g++)                     \
            if (g->last && g->last->member != SAMPLE_UNKNOWN)                                      \
                show(t, OF_GPU(m, g), g->last->member);                                            \
    }
GPU_VALUE(gpu_busy, busy_permille, metric_ms)
GPU_VALUE(gpu_memory, memory_used, metric_int)
GPU_VALUE(gpu_memory_total, memory_total, metric_int)
GPU_VALUE(gpu_power, power_mw, metric_ms)
GPU_VALUE(gpu_temperature, temperature, metric_int)
GPU_VALUE(gpu_ecc, ecc_errors, metric_int)
GPU_VALUE(gpu_throttle, throttle, metric_int)
GPU_VALUE(gpu_processes, n_processes, metric_int)

/* --- the table -------------------------------------------------------------------------------- */

static const struct row_metric node_metrics[] = {
    {"batchaid_node", METRIC_INFO,
     "A machine of the inventory, or a local node; cluster: the cluster or pool that has it.",
     info},
    {"batchaid_node_state", METRIC_GAUGE, "1 for its present state (as batchaid_nodes).", state},
    {"batchaid_node_drained", METRIC_GAUGE, "1: no job begins there.", drained},
    {"batchaid_node_contact_timestamp_seconds", METRIC_GAUGE, "The last contact.", contact},
    {"batchaid_node_gpus", METRIC_GAUGE, "Its GPUs.", gpus},
    {"batchaid_node_gpus_allocated", METRIC_GAUGE, "Those that jobs and tasks have.", gpus_taken},
    {"batchaid_node_sample_timestamp_seconds", METRIC_GAUGE,
     "When the sample was taken that the following metrics show.", sampled},
    {"batchaid_node_cpu_ratio", METRIC_GAUGE, "The part of its processors that works.", cpu},
    {"batchaid_node_memory_used_bytes", METRIC_GAUGE, "Memory without caches.", memory_used},
    {"batchaid_node_memory_bytes", METRIC_GAUGE, "Its memory.", memory_total},
    {"batchaid_node_disk_free_bytes", METRIC_GAUGE, "Free bytes of the disk with its directories.",
     disk_free},
    {"batchaid_node_disk_bytes", METRIC_GAUGE, "The size of this disk.", disk_total},
    {"batchaid_node_disk_read_bytes_per_second", METRIC_GAUGE, "Reads of its disks.", disk_read},
    {"batchaid_node_disk_written_bytes_per_second", METRIC_GAUGE, "Writes to its disks.",
     disk_written},
    {"batchaid_node_network_received_bytes_per_second", METRIC_GAUGE, "Its network.", network_in},
    {"batchaid_node_network_sent_bytes_per_second", METRIC_GAUGE, "Likewise.", network_out},
    {"batchaid_node_pressure_ratio", METRIC_GAUGE,
     "The part of the time in which some process waited for cpu, memory or io (Linux PSI).",
     pressure},
    {"batchaid_gpu_state", METRIC_GAUGE,
     "1 for the present state of a GPU: free, used (by a job; nobody knows whether it works), "
     "busy, "
     "idle (a job has it, and it does nothing), unusable.",
     gpu_state},
    {"batchaid_gpu_busy_ratio", METRIC_GAUGE, "The part of the time in which it worked.", gpu_busy},
    {"batchaid_gpu_memory_used_bytes", METRIC_GAUGE, "Its used memory.", gpu_memory},
    {"batchaid_gpu_memory_bytes", METRIC_GAUGE, "Its memory.", gpu_memory_total},
    {"batchaid_gpu_power_watts", METRIC_GAUGE, "Its power.", gpu_power},
    {"batchaid_gpu_temperature_celsius", METRIC_GAUGE, "Its temperature.", gpu_temperature},
    {"batchaid_gpu_ecc_errors", METRIC_GAUGE,
     "Uncorrected errors of its memory since the driver was loaded.", gpu_ecc},
    {"batchaid_gpu_throttle_reasons", METRIC_GAUGE,
     "The bits of NVML's clocksEventReasons; 1: idle.", gpu_throttle},
    {"batchaid_gpu_processes", METRIC_GAUGE, "Processes that use it.", gpu_processes},
    {0},
};

static void next(struct request *r, void *ctx)
{
    struct machines_reading *v = ctx;
    struct err e;
    size_t n;
    int rc = fleet_machines_more(v, &e);
    if (rc < 0)
        request_finish(r, reply_err(r, &e));
    else if (rc > 0)
        request_again(r, next, v);
    else {
        const struct machine_view *list = fleet_machines_list(v, &n);
        rows_show(r, node_metrics, list, sizeof *list, n);
    }
}

void metrics_of_nodes(struct request *r)
{
    request_again(r, next, fleet_machines_begin(metrics_of(r)->fleet, &r->arena, MACHINES_WHOLE));
}
