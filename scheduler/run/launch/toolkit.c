/* SPDX-License-Identifier: MIT */
#include "scheduler/run/launch/toolkit.h"

#include <string.h>

void launch_add(struct arena *a, struct launch_plan *plan, const struct launch_process *p)
{
    if (plan->n == plan->cap) {
        plan->cap = plan->cap ? plan->cap * 2 : 8;
        struct launch_process *all = arena_alloc(a, plan->cap * sizeof *all);
        if (plan->n > 0)
            memcpy(all, plan->processes, plan->n * sizeof *all);
        plan->processes = all;
    }
    plan->processes[plan->n++] = *p;
}
