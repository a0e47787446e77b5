/* SPDX-License-Identifier: MIT */
#include "scheduler/run/launch/launch.h"

#include <assert.h>
#include <string.h>

#include "scheduler/run/launch/toolkit.h"

static const struct toolkit {
    enum tool_type tool;
    toolkit_plan *plan;
} toolkits[] = {
    {TOOL_CNTK, plan_cntk},       {TOOL_TENSORFLOW, plan_tensorflow}, {TOOL_CAFFE, plan_caffe},
    {TOOL_CAFFE2, plan_caffe2},   {TOOL_CHAINER, plan_chainer},       {TOOL_HOROVOD, plan_horovod},
    {TOOL_PYTORCH, plan_pytorch}, {TOOL_MPI, plan_custom_mpi},        {TOOL_CUSTOM, plan_custom},
};

static const struct toolkit *find_toolkit(enum tool_type tool)
{
    for (size_t i = 0; i < sizeof toolkits / sizeof toolkits[0]; i++)
        if (toolkits[i].tool == tool)
            return &toolkits[i];
    return NULL;
}

/* With several nodes, each node has separate files, because they all see one directory. */
static void add_preparations(struct arena *a, const struct launch_input *in,
                             struct launch_plan *plan)
{
    bool many = in->n_nodes > 1;
    for (size_t i = 0; in->spec->prep_command_line && i < in->n_nodes; i++) {
        const char *run = in->words->run, *dash = many ? "-" : "",
                   *node = many ? in->nodes[i].name : "";
        const struct launch_process p = {
            .role = LAUNCH_PREPARATION,
            .rank = (int)i,
            .name = "prep",
            .command_line = in->spec->prep_command_line,
            .stdout_name = arena_printf(a, "stdout-%s_prep%s%s.txt", run, dash, node),
            .stderr_name = arena_printf(a, "stderr-%s_prep%s%s.txt", run, dash, node)};
        launch_add(a, plan, &p);
    }
}

bool launch_plan(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                 struct failure *why)
{
    *out = (struct launch_plan){0};
    assert(in->n_nodes > 0);
    if (in->spec->place)
        return plan_program(a, in, out, why);
    const struct toolkit *t = find_toolkit(in->spec->tool);
    assert(t);
    add_preparations(a, in, out);
    if (!t->plan(a, in, out, why))
        return false;
    for (size_t i = 0; i < out->n; i++)
        assert(out->processes[i].rank >= 0 && (size_t)out->processes[i].rank < in->n_nodes);
    return true;
}

bool launch_succeeded(const struct launch_plan *plan, const bool *over)
{
    size_t mains = 0, ended = 0;
    for (size_t i = 0; i < plan->n; i++) {
        if (plan->processes[i].role != LAUNCH_MAIN)
            continue;
        mains++;
        ended += over[i];
    }
    return plan->end == LAUNCH_ENDS_WITH_ALL ? ended == mains : ended > 0;
}

/* The process's GPUs in CUDA's format: indexes separated by commas. */
static const char *device_list(struct arena *a, const struct launch_process *p)
{
    const char *list = "";
    for (size_t i = 0; i < p->n_devices; i++)
        list = arena_printf(a, "%s%s%d", list, i > 0 ? "," : "", p->devices[i]);
    return list;
}

size_t launch_process_env(struct arena *a, const struct launch_process *p, struct kv **out)
{
    size_t n = p->n_env;
    *out = arena_alloc(a, (n + 1) * sizeof **out);
    if (n > 0)
        memcpy(*out, p->env, n * sizeof **out);
    if (p->devices)
        (*out)[n++] = (struct kv){.name = "CUDA_VISIBLE_DEVICES", .value = device_list(a, p)};
    return n;
}
