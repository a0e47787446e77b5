/* SPDX-License-Identifier: MIT
 *
 * The functions of the toolkits' files that launch.c calls; private to launch/. Each adds its
 * processes to a plan that has the preparations already, and sets how the run ends.
 */
#ifndef SCHEDULER_RUN_LAUNCH_TOOLKIT_H
#define SCHEDULER_RUN_LAUNCH_TOOLKIT_H

#include "scheduler/run/launch/launch.h"

typedef bool toolkit_plan(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                          struct failure *why);

toolkit_plan plan_custom;

/* Appends a copy. */
void launch_add(struct arena *a, struct launch_plan *plan, const struct launch_process *p);

#endif
