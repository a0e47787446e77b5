/* SPDX-License-Identifier: MIT
 *
 * Caffe2: the script once on each node. Its processes find each other through the directory that
 * the nodes share, by the script's own means. Its files are called as the service called them.
 */
#include "scheduler/run/launch/toolkit.h"

bool plan_caffe2(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                 struct failure *why)
{
    const char *command_line = launch_script(a, in, in->spec->toolkit.args);
    (void)why;
    for (size_t i = 0; i < in->n_nodes; i++) {
        struct env v;
        env_init(&v, a);
        launch_set_rank(&v, in, in->n_nodes, i);
        const struct launch_process p = {.role = LAUNCH_MAIN,
                                         .rank = (int)i,
                                         .name = "main",
                                         .title = in->n_nodes > 1 ? arena_printf(a, "worker %zu", i)
                                                                  : NULL,
                                         .command_line = command_line,
                                         .env = v.items,
                                         .n_env = v.n,
                                         .stdout_name = arena_printf(a, "stdout-wk-%zu.txt", i),
                                         .stderr_name = arena_printf(a, "stderr-%zu.txt", i)};
        launch_add(a, out, &p);
    }
    out->end = LAUNCH_ENDS_WITH_ALL;
    return true;
}
