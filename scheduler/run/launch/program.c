/* SPDX-License-Identifier: MIT
 *
 * Plans a run whose command line is started as it was given, without a shell and without a toolkit.
 * A coordination command may precede it on each node.
 */
#include "scheduler/run/launch/toolkit.h"

/* Adds the coordination command, on every node including the first. */
static void add_coordination(struct arena *a, const struct launch_input *in,
                             struct launch_plan *out)
{
    const struct program_spec *p = &in->spec->place->team->coordination;
    for (size_t i = 0; i < in->n_nodes; i++) {
        const struct launch_process process = {.role = LAUNCH_PREPARATION,
                                               .rank = (int)i,
                                               .name = "coordination",
                                               .title = "coordination command",
                                               .command_line = p->shown,
                                               .program = p,
                                               .leaves = true,
                                               .stdout_name = "stdout.txt",
                                               .stderr_name = "stderr.txt"};
        launch_add(a, out, &process);
    }
}

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
    if (place->team)
        add_coordination(a, in, out);
    launch_add(a, out, &process);
    out->end = LAUNCH_ENDS_WITH_FIRST;
    return true;
}
