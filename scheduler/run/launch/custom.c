/* SPDX-License-Identifier: MIT
 *
 * customToolkit: runs the command line as it is, once, on the first node. The command finds the
 * other nodes in its environment and starts what it wants there.
 */
#include "scheduler/run/launch/toolkit.h"

bool plan_custom(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                 struct failure *why)
{
    const struct launch_process main_process = {.role = LAUNCH_MAIN,
                                                .name = "main",
                                                .command_line = in->spec->toolkit.command_line,
                                                .stdout_name = "stdout.txt",
                                                .stderr_name = "stderr.txt"};
    (void)why;
    launch_add(a, out, &main_process);
    out->end = LAUNCH_ENDS_WITH_FIRST;
    return true;
}
