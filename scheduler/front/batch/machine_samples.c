/* SPDX-License-Identifier: MIT
 *
 * The load of the machines of a pool's nodes, for formulas: averages over the nodes that have
 * answered. Counters (bytes, operations) are for half a minute.
 */
#include "scheduler/formula/samples.h"
#include "scheduler/front/batch/front_priv.h"

static double percent_busy(const struct node_usage *u)
{
    return u->cpu_ticks > 0 ? 100.0 * (double)u->cpu_busy_ticks / (double)u->cpu_ticks : 0;
}

static void add(const struct node_used *used, double sums[])
{
    const struct node_usage *u = &used->in_between;
    double periods = used->seconds / SAMPLES_PERIOD_S;
    const double counted[SAMPLE_MACHINE_COUNT] = {
        [SAMPLE_WALL_CLOCK_SECONDS] = used->seconds,
        [SAMPLE_DISK_READ_BYTES] = (double)u->disk_read_bytes,
        [SAMPLE_DISK_WRITE_BYTES] = (double)u->disk_write_bytes,
        [SAMPLE_DISK_READ_OPS] = (double)u->disk_read_ops,
        [SAMPLE_DISK_WRITE_OPS] = (double)u->disk_write_ops,
        [SAMPLE_NETWORK_IN_BYTES] = (double)u->network_in_bytes,
        [SAMPLE_NETWORK_OUT_BYTES] = (double)u->network_out_bytes};
    for (int m = 0; m < SAMPLE_MACHINE_COUNT; m++)
        sums[m] += counted[m] / periods;
    sums[SAMPLE_CPU_PERCENT] += percent_busy(u);
    sums[SAMPLE_MEMORY_BYTES] += (double)u->memory_bytes;
    sums[SAMPLE_DISK_BYTES] += (double)u->disk_bytes;
}

void machine_samples_take(const struct batch_front *f, const struct node *nodes, size_t n,
                          double values[])
{
    struct fleet *fleet = sched_fleet(f->sched);
    double sums[SAMPLE_MACHINE_COUNT] = {0};
    int answered = 0;
    for (size_t i = 0; i < n; i++) {
        struct node_used used;
        if (!fleet_node_used(fleet, nodes[i].id, &used))
            continue;
        add(&used, sums);
        answered++;
    }
    for (int m = 0; answered > 0 && m < SAMPLE_MACHINE_COUNT; m++)
        values[m] = sums[m] / answered;
}

void machine_samples_ask(const struct batch_front *f, const struct node *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fleet_ask_usage(sched_fleet(f->sched), nodes[i].id);
}
