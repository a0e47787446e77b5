/* SPDX-License-Identifier: MIT
 *
 * PyTorch: runs the script in as many processes as the settings request. Each process gets its
 * rank, and the URL where the processes find each other: a file, or the address of the first
 * process if the shared disk has no locks. With the backend mpi, mpirun starts the ranks and
 * connects them.
 */
#include <strings.h>

#include "scheduler/run/launch/toolkit.h"

/* The real service's default backend. */
#define USUAL_BACKEND "tcp"

static void set_common(struct env *v, struct arena *a, const struct launch_input *in,
                       const char *backend)
{
    const char *file = launch_meeting_file(a, in);
    env_init(v, a);
    env_set_var(v, in->words, VAR_BACKEND, NULL, backend);
    env_set_var(v, in->words, VAR_INIT_METHOD, NULL,
                file ? arena_concat(a, "file://", file)
                     : arena_concat(a, "tcp://", launch_endpoint(a, in, 0, 0)));
}

static void add_rank(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                     const char *backend, size_t rank)
{
    size_t total = launch_ranks(in);
    const struct launch_place at = launch_place_of(in, total, rank);
    struct env v;
    set_common(&v, a, in, backend);
    launch_set_rank(&v, in, total, rank);
    const struct launch_process p = {.role = LAUNCH_MAIN,
                                     .rank = (int)at.node,
                                     .name = arena_printf(a, "rank-%zu", rank),
                                     .title =
                                         total > 1 ? arena_printf(a, "process %zu", rank) : NULL,
                                     .command_line = launch_script(a, in, in->spec->toolkit.args),
                                     .env = v.items,
                                     .n_env = v.n,
                                     .stdout_name = arena_printf(a, "stdout-%zu.txt", rank),
                                     .stderr_name = arena_printf(a, "stderr-%zu.txt", rank)};
    launch_add(a, out, &p);
}

bool plan_pytorch(struct arena *a, const struct launch_input *in, struct launch_plan *out,
                  struct failure *why)
{
    const struct toolkit_spec *t = &in->spec->toolkit;
    const char *backend = t->backend && *t->backend ? arena_lower(a, t->backend) : USUAL_BACKEND;
    (void)why;
    if (strcasecmp(backend, "mpi") == 0) {
        struct env v;
        set_common(&v, a, in, backend);
        launch_add_mpi(a, in, out, launch_script(a, in, t->args), &v);
        return true;
    }
    for (size_t rank = 0; rank < launch_ranks(in); rank++)
        add_rank(a, in, out, backend, rank);
    out->end = LAUNCH_ENDS_WITH_ALL;
    return true;
}
