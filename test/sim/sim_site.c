/* SPDX-License-Identifier: MIT
 *
 * What nodes there are beside whole local ones: machines of an inventory, and nodes that runs
 * share. And what is mounted on all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/fleet/fleet.h"
#include "storage/storage.h"
#include "test/sim/sim.h"

static const char *const machine_sizes[] = {MACHINE_SIZE, NULL};
static const struct site_group group = {.user = "nobody",
                                        .password = "none",
                                        .node_root = MACHINE_ROOT,
                                        .vm_sizes = machine_sizes,
                                        .priority = VM_DEDICATED};
static const char *const names[MACHINES] = {"m0", "m1", "m2", "m3", "m4", "m5"};

const char *sim_machine_name(int i)
{
    return names[i];
}

int sim_machine_index(const char *name)
{
    for (int i = 0; i < MACHINES; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

void sim_inventory_new(struct life *l)
{
    struct sim_inventory *in = xcalloc(1, sizeof *in);
    l->missing = l->sim->missing;
    in->older = l->inventory;
    l->inventory = in;
    in->site = (struct site){.machines = in->machines,
                             .file_servers = &sim_server_rule,
                             .n_file_servers = 1,
                             .known_hosts = "/known_hosts",
                             .connect_limit = 2, /* they wait for each other */
                             .connect_timeout_s = 5,
                             .keepalive_s = 5,
                             .dead_after_s = 15,
                             .unusable_after_s = 120,
                             .reclaim = true,
                             .health_interval_s = 60,
                             .max_clock_skew_s = 300};
    for (int i = 0; i < MACHINES; i++)
        if (!(l->missing & 1U << i))
            in->machines[in->site.n_machines++] = (struct site_machine){
                .name = names[i], .host = names[i], .port = 22, .group = &group};
}

/* The old inventory stays where the disk takes no new one. */
void sim_inventory_replace(struct sim *m)
{
    struct life *l = m->life;
    struct err e = {0};
    unsigned missing = l->missing;
    struct sim_inventory *before = l->inventory;
    sim_inventory_new(l);
    if (fleet_use_site(sched_fleet(l->s), &l->inventory->site, &e) == 0)
        return;
    sim_trace(m, "not replaced: %s", e.msg);
    free(l->inventory);
    l->inventory = before;
    m->missing = l->missing = missing;
}

void sim_inventory_free(struct life *l)
{
    while (l->inventory) {
        struct sim_inventory *older = l->inventory->older;
        free(l->inventory);
        l->inventory = older;
    }
}

const char *const sim_backfill[SIM_BACKFILL] = {"*[02468]", "ws/*[35]"};

bool sim_backfills(const char *cluster)
{
    char last = cluster[strlen(cluster) - 1];
    return strchr("0246835", last) != NULL;
}

static const char *value_of(const struct task_spec *spec, const char *name)
{
    for (size_t i = spec->n_env; i-- > 0;)
        if (strcmp(spec->env[i].name, name) == 0)
            return spec->env[i].value;
    return "";
}

/* The last rank runs longer than the others, and fails. */
static void fail_last(const struct task_spec *spec, struct fake_task *out)
{
    if (!strstr(spec->command_line, " last-fails") ||
        strtol(value_of(spec, "RANK"), NULL, 10) + 1 <
            strtol(value_of(spec, "WORLD_SIZE"), NULL, 10))
        return;
    out->run_us += SECOND;
    out->exit_code = 4;
}

/* A command that hangs is ended when its time is over. */
void sim_plan_task(void *ctx, const struct fake_node *node, const struct task_spec *spec,
                   struct fake_task *out)
{
    const struct sim *m = ctx;
    (void)node;
    fake_read_command(spec->title ? spec->title : spec->command_line, out);
    fail_last(spec, out);
    if (!strstr(spec->command_line, "mount-share") || m->share == SHARE_MOUNTS)
        return;
    out->exit_code = 1;
    if (m->share == SHARE_HANGS)
        out->run_us = (spec->timeout_s > 0 ? spec->timeout_s : 60) * SECOND;
}
