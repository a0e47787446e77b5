/* SPDX-License-Identifier: MIT
 *
 * CNTK: a Python script, or the configuration of a BrainScript for the program cntk. Several
 * processes are ranks of mpirun; one needs none.
 */
#include "scheduler/run/launch/toolkit.h"

bool plan_cntk(struct arena *a, const struct launch_input *in, struct launch_plan *out,
               struct failure *why)
{
    const struct toolkit_spec *t = &in->spec->toolkit;
    const char *command =
        t->script ? launch_script(a, in, t->args) : launch_config(a, in, "cntk configFile=");
    (void)why;
    if (launch_ranks(in) > 1)
        launch_add_mpi(a, in, out, command, NULL);
    else
        launch_add_single(a, out, command);
    return true;
}
