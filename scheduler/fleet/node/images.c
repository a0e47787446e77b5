/* SPDX-License-Identifier: MIT
 *
 * Images of containers that nodes have before a run wants them.
 */
#include "scheduler/fleet/container/container.h"
#include "scheduler/fleet/node/node_priv.h"

void node_images_step(const struct node_rt *rt, struct arena *a, struct script *sc,
                      const struct node_setup_spec *spec, const char *task_prefix)
{
    const char *runtime = node_rt_container_runtime(rt);
    const char *dir = arena_concat(a, rt->root, "/images");
    const struct script_label tidy = {.what = "remove the output of pulls", .may_fail = true};
    for (size_t i = 0; runtime && i < spec->n_images; i++) {
        const struct container c = {.words = words_of_node(rt),
                                    .spec = &spec->images[i],
                                    .runtime = runtime,
                                    .name = "",
                                    .root = rt->root,
                                    .run_dir = dir,
                                    .log_path = "/dev/null"};
        container_add_pull(sc, a, &c, arena_printf(a, "%spull-%zu", task_prefix, i));
    }
    if (runtime && spec->n_images > 0)
        script_ask(sc, &tidy, REQUEST(remove_tree, .path = dir));
}
