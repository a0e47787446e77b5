/* SPDX-License-Identifier: MIT */
#include "api/admin/sample_json.h"

#include "lib/timefmt.h"

static void add(json_t *to, const char *name, int64_t value)
{
    if (value != SAMPLE_UNKNOWN)
        json_object_set_new(to, name, json_integer(value));
}

#define ADD(member, name, most) add(to, name, g->member);

json_t *sample_show(const struct node_sample *g)
{
    char time[TIMEFMT_SIZE];
    timefmt_wire(g->at_us, time);
    json_t *to = json_pack("{s:s}", "time", time);
    SAMPLE_NODE_VALUES(ADD)
    return to;
}

static json_t *show_processes(const struct gpu_sample *g)
{
    json_t *list = json_array();
    for (int i = 0; i < g->listed; i++) {
        json_t *to = json_pack("{s:I}", "pid", (json_int_t)g->processes[i].pid);
        add(to, "memoryBytes", g->processes[i].memory);
        json_array_append_new(list, to);
    }
    return list;
}

void gpu_sample_show(const struct gpu_sample *g, json_t *to)
{
    if (*g->uuid)
        json_object_set_new(to, "uuid", json_string(g->uuid));
    SAMPLE_GPU_VALUES(ADD)
    if (g->listed > 0)
        json_object_set_new(to, "processList", show_processes(g));
}
