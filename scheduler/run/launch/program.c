/* SPDX-License-Identifier: MIT
 *
 * A program that a front runs as it was given, without a shell and without a toolkit.
 */
#include "scheduler/run/launch/toolkit.h"

void plan_program(struct arena *a, const struct launch_input *in, struct launch_plan *out)
{
    const struct program_spec *p = &in->spec->place->program;
    const struct launch_process process = {.role = LAUNCH_MAIN,
                                           .name = "main",
                                           .command_line = p->shown,
                                           .program = p,
                                           .stdout_name = "stdout.txt",
                                           .stderr_name = "stderr.txt"};
    launch_add(a, out, &process);
    out->end = LAUNCH_ENDS_WITH_FIRST;
}
