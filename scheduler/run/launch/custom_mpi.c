/* SPDX-License-Identifier: MIT
 *
 * customMpi: the command line, in as many ranks as the settings ask for.
 */
#include "scheduler/run/launch/toolkit.h"

bool plan_custom_mpi(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                     struct failure *why)
{
    (void)why;
    launch_add_mpi(a, in, out, in->spec->toolkit.command_line, NULL);
    return true;
}
