/* SPDX-License-Identifier: MIT
 *
 * customToolkit: runs the command line as it is, once, on the first node. The command finds the
 * other nodes in its environment and starts what it wants there.
 */
#include "scheduler/run/launch/toolkit.h"

bool plan_custom(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                 struct failure *why)
{
    (void)why;
    launch_add_single(a, out, in->spec->toolkit.command_line);
    return true;
}
