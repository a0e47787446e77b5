/* SPDX-License-Identifier: MIT */
#include "scheduler/launch/launch.h"

#include <assert.h>

static size_t plan_custom(struct arena *a, const struct job_spec *spec, struct launch_task **tasks)
{
    *tasks = arena_alloc(a, sizeof **tasks);
    **tasks = (struct launch_task){.rank = 0,
                                   .name = "main",
                                   .command_line = spec->command_line,
                                   .stdout_name = "stdout.txt",
                                   .stderr_name = "stderr.txt"};
    return 1;
}

static const struct toolkit {
    enum tool_type tool;
    const char *settings; /* the property that asks for it */
    size_t (*plan)(struct arena *a, const struct job_spec *spec, struct launch_task **tasks);
} toolkits[] = {
    {TOOL_CNTK, "cntkSettings", NULL},
    {TOOL_TENSORFLOW, "tensorFlowSettings", NULL},
    {TOOL_CAFFE, "caffeSettings", NULL},
    {TOOL_CAFFE2, "caffe2Settings", NULL},
    {TOOL_CHAINER, "chainerSettings", NULL},
    {TOOL_HOROVOD, "horovodSettings", NULL},
    {TOOL_PYTORCH, "pyTorchSettings", NULL},
    {TOOL_MPI, "customMpiSettings", NULL},
    {TOOL_CUSTOM, "customToolkitSettings", plan_custom},
};

static const struct toolkit *find_toolkit(enum tool_type tool)
{
    for (size_t i = 0; i < sizeof toolkits / sizeof toolkits[0]; i++)
        if (toolkits[i].tool == tool)
            return &toolkits[i];
    return NULL;
}

size_t launch_tasks(struct arena *a, const struct job_spec *spec, struct launch_task **tasks)
{
    const struct toolkit *t = find_toolkit(spec->tool);
    assert(t && t->plan);
    return t->plan(a, spec, tasks);
}

static bool refuse_toolkit(struct arena *a, const struct job_spec *spec, struct failure *why)
{
    const struct toolkit *t = find_toolkit(spec->tool);
    if (t && t->plan)
        return false;
    *why = (struct failure){
        .code = "ToolkitNotSupported",
        .message =
            arena_printf(a, "Jobs with %s cannot run here yet", t ? t->settings : "this toolkit"),
        .step = "launch",
        .remedy = "use customToolkitSettings with the command line that the toolkit would run",
        .exit_code = -1};
    return true;
}

static bool refuse_reference(struct arena *a, const char *what, const char *url,
                             struct failure *why)
{
    *why = (struct failure){
        .code = "SecretReferenceNotSupported",
        .message = arena_printf(a, "%s refers to the Key Vault secret %s, which cannot be read yet",
                                what, url),
        .step = "launch",
        .remedy = "give the value itself instead of a reference",
        .exit_code = -1};
    return true;
}

static bool refuse_registry(struct arena *a, const struct container_spec *c, struct failure *why)
{
    if (!c || !c->secret_ref)
        return false;
    return refuse_reference(a, "containerSettings: the registry's password", c->secret_ref, why);
}

bool launch_refuse_secrets(struct arena *a, const struct kv *env, size_t n, struct failure *why)
{
    for (size_t i = 0; i < n; i++)
        if (env[i].secret_ref)
            return refuse_reference(a, arena_printf(a, "secrets: %s", env[i].name),
                                    env[i].secret_ref, why);
    return false;
}

bool launch_refuse_mounts(struct arena *a, const struct mount_list *mounts, struct failure *why)
{
    for (size_t i = 0; i < mounts->n; i++) {
        const struct mount_volume *m = &mounts->items[i];
        if (m->secret_ref)
            return refuse_reference(a, arena_printf(a, "mountVolumes: %s", m->relative_path),
                                    m->secret_ref, why);
    }
    return false;
}

bool launch_refusal(struct arena *a, const struct job_spec *spec, struct failure *why)
{
    return refuse_toolkit(a, spec, why) || refuse_registry(a, spec->container, why) ||
           launch_refuse_mounts(a, &spec->mounts, why) ||
           launch_refuse_secrets(a, spec->env, spec->n_env, why);
}
