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

int limits_set(const struct task_limits *l, const struct cgroup *g, struct err *e)
{
    const struct {
        const char *name;
        int resource;
        int64_t value;
        bool elsewhere;
    } all[] = {
        {"open_files", RLIMIT_NOFILE, l->open_files, false},
        {"processes", RLIMIT_NPROC, l->processes, g->pids},
        {"memory_bytes", RLIMIT_AS, l->memory_bytes, g->memory},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].value > 0 && !all[i].elsewhere &&
            set_one(all[i].resource, (rlim_t)all[i].value) < 0)
            return err_errno(e, ERR_NODE, "cannot limit the task's %s to %lld", all[i].name,
                             (long long)all[i].value);
    return 0;
}
