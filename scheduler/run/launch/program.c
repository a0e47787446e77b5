/* SPDX-License-Identifier: MIT
 *
 * A program that a front runs as it was given, without a shell and without a toolkit.
 */
#include "scheduler/run/launch/toolkit.h"

bool plan_program(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                  struct failure *why)
{
    const struct place_spec *place = in->spec->place;
    const struct program_spec *p = &place->program;
    const struct launch_process process = {.role = LAUNCH_MAIN,
                                           .name = "main",
                                           .command_line = p->shown,
                                           .program = p,
                                           .stdout_name = "stdout.txt",
                                           .stderr_name = "stderr.txt"};
    if (place->refused) {
        *why = (struct failure){.code = place->refused,
                                .message = place->why_refused,
                                .node = in->nodes[0].name,
                                .exit_code = -1};
        return false;
    }
    launch_add(a, out, &process);
    out->end = LAUNCH_ENDS_WITH_FIRST;
    return true;
}
