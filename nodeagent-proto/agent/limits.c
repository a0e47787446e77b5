/* SPDX-License-Identifier: MIT */
#include "nodeagent-proto/agent/limits.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>

static int set_one(int resource, rlim_t value)
{
    struct rlimit now, want = {.rlim_cur = value, .rlim_max = value};
    if (setrlimit(resource, &want) == 0)
        return 0;
    if (errno != EPERM || getrlimit(resource, &now) < 0)
        return -1;
    if (now.rlim_max < value)
        want.rlim_cur = want.rlim_max = now.rlim_max;
    return setrlimit(resource, &want);
}

static int set(const char *name, int resource, int64_t value, struct err *e)
{
    return value <= 0 || set_one(resource, (rlim_t)value) == 0
               ? 0
               : err_errno(e, ERR_NODE, "cannot limit the task's %s to %lld", name,
                           (long long)value);
}

int limits_set(const struct task_limits *l, const struct cgroup *g, struct err *e)
{
    if (set("open_files", RLIMIT_NOFILE, l->open_files, e) < 0)
        return -1;
    return g->pids ? 0 : set("processes", RLIMIT_NPROC, l->processes, e);
}

int limits_set_memory(const struct task_limits *l, const struct cgroup *g, struct err *e)
{
    return g->memory ? 0 : set("memory_bytes", RLIMIT_AS, l->memory_bytes, e);
}
