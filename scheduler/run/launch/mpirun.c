/* SPDX-License-Identifier: MIT
 *
 * mpirun as the main process of a run: the program of programs/mpirun.sh, after its variables. Each
 * rank expands its command line itself, because paths and other variables differ between nodes.
 */
#include "lib/shell.h"
#include "lib/strbuf.h"
#include "scheduler/run/launch/env.h"
#include "scheduler/run/launch/toolkit.h"

#include "launch_programs.inc"

static void put_value(struct strbuf *b, const char *name, const char *value)
{
    strbuf_concat(b, name, "=");
    shell_quote(b, value);
    strbuf_putc(b, '\n');
}

/* The number of ranks on each host: "gpu1:4,gpu2:3"; without nodes that have no rank. */
static const char *host_counts(struct arena *a, const struct launch_input *in, size_t total)
{
    struct strbuf b = STRBUF_INIT;
    for (size_t i = 0; i < in->n_nodes; i++) {
        size_t n = launch_share(in, total, i);
        if (n > 0)
            strbuf_printf(&b, "%s%s:%zu", i > 0 ? "," : "", in->nodes[i].address, n);
    }
    const char *text = arena_strdup(a, b.s ? b.s : "");
    strbuf_free(&b);
    return text;
}

/* The command that each rank runs: it sets the variables about its rank, under the names of
 * torch.distributed and of the front, and then runs `command_line`. */
static const char *rank_command(struct arena *a, const struct launch_input *in,
                                const char *command_line, const struct env *own, size_t total)
{
    struct strbuf b = STRBUF_INIT;
    const char *name;
    size_t i = 0;
    strbuf_puts(&b, rank_program);
    strbuf_printf(&b, "export RANK LOCAL_RANK LOCAL_WORLD_SIZE WORLD_SIZE=%zu\n", total);
    while ((name = front_var_next(in->words, VAR_RANK, &i)))
        strbuf_concat(&b, "export ", name, "=\"$RANK\"\n");
    for (size_t k = 0; own && k < own->n; k++)
        shell_export(&b, own->items[k].name, own->items[k].value);
    strbuf_puts(&b, command_line);
    const char *text = arena_strdup(a, b.s);
    strbuf_free(&b);
    return text;
}

void launch_add_mpi(struct arena *a, const struct launch_input *in, struct launch_plan *plan,
                    const char *command_line, const struct env *own)
{
    size_t total = launch_ranks(in);
    bool many = in->n_nodes > 1;
    struct strbuf b = STRBUF_INIT;
    put_value(&b, "ranks", arena_printf(a, "%zu", total));
    put_value(&b, "hosts", many ? host_counts(a, in, total) : "");
    put_value(&b, "hostfile", many ? launch_host_file(a, in, 0) : "");
    put_value(&b, "command", rank_command(a, in, command_line, own, total));
    strbuf_puts(&b, mpirun_program);
    const struct launch_process p = {.role = LAUNCH_MAIN,
                                     .name = "main",
                                     .command_line = arena_strdup(a, b.s),
                                     .shown =
                                         arena_printf(a, "mpirun -n %zu %s", total, command_line),
                                     .stdout_name = "stdout.txt",
                                     .stderr_name = "stderr.txt"};
    strbuf_free(&b);
    launch_add(a, plan, &p);
    plan->end = LAUNCH_ENDS_WITH_FIRST;
}
