/* SPDX-License-Identifier: MIT
 *
 * Horovod: the script in ranks of mpirun, which it needs even for one.
 */
#include "scheduler/run/launch/toolkit.h"

bool plan_horovod(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                  struct failure *why)
{
    (void)why;
    launch_add_mpi(a, in, out, launch_script(a, in, in->spec->toolkit.args), NULL);
    return true;
}
