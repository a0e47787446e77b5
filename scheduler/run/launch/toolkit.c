/* SPDX-License-Identifier: MIT
 *
 * Pure functions over a plan that grows in the caller's arena.
 */
#include "scheduler/run/launch/toolkit.h"
#include <stdint.h>

#include <string.h>

#include "lib/strbuf.h"

void launch_add(struct arena *a, struct launch_plan *plan, const struct launch_process *p)
{
    if (plan->n == plan->cap) {
        plan->cap = plan->cap ? plan->cap * 2 : 8;
        struct launch_process *all = arena_alloc(a, plan->cap * sizeof *all);
        if (plan->n > 0)
            memcpy(all, plan->processes, plan->n * sizeof *all);
        plan->processes = all;
    }
    plan->processes[plan->n++] = *p;
}

void launch_add_single(struct arena *a, struct launch_plan *plan, const char *command_line)
{
    const struct launch_process p = {.role = LAUNCH_MAIN,
                                     .name = "main",
                                     .command_line = command_line,
                                     .stdout_name = "stdout.txt",
                                     .stderr_name = "stderr.txt"};
    launch_add(a, plan, &p);
    plan->end = LAUNCH_ENDS_WITH_FIRST;
}

/* --- command lines ---------------------------------------------------------------------------- */

/* Many distributions have only python3 today. */
#define ANY_PYTHON "$(command -v python || echo python3)"

/* Writes a path in double quotes, because the path, and the values of variables in it, may contain
 * blanks. */
static void put_path(struct strbuf *b, const char *path)
{
    strbuf_putc(b, '"');
    for (; *path; path++) {
        if (strchr("\"\\`", *path))
            strbuf_putc(b, '\\');
        strbuf_putc(b, *path);
    }
    strbuf_putc(b, '"');
}

static const char *command(struct arena *a, const char *before, const char *path, const char *args)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, before);
    put_path(&b, path ? path : "");
    if (args && *args)
        strbuf_concat(&b, " ", args);
    const char *text = arena_strdup(a, b.s);
    strbuf_free(&b);
    return text;
}

const char *launch_script(struct arena *a, const struct launch_input *in, const char *args)
{
    const struct toolkit_spec *t = &in->spec->toolkit;
    bool named = t->interpreter && *t->interpreter;
    return command(a, arena_concat(a, named ? t->interpreter : ANY_PYTHON, " "), t->script, args);
}

const char *launch_config(struct arena *a, const struct launch_input *in, const char *option)
{
    const struct toolkit_spec *t = &in->spec->toolkit;
    return command(a, option, t->config_file, t->args);
}

/* --- ranks ------------------------------------------------------------------------------------ */

size_t launch_ranks(const struct launch_input *in)
{
    int asked = in->spec->toolkit.process_count;
    return asked > 0 ? (size_t)asked : in->n_nodes;
}

size_t launch_share(const struct launch_input *in, size_t total, size_t node)
{
    return total / in->n_nodes + (node < total % in->n_nodes);
}

struct launch_place launch_place_of(const struct launch_input *in, size_t total, size_t rank)
{
    struct launch_place at = {.node = 0, .local = rank};
    while (at.local >= (at.local_count = launch_share(in, total, at.node))) {
        at.local -= at.local_count;
        at.node++;
    }
    return at;
}

static void set_number(struct env *v, const char *name, size_t n)
{
    env_set(v, name, arena_printf(v->a, "%zu", n));
}

void launch_set_rank(struct env *v, const struct launch_input *in, size_t total, size_t rank)
{
    const struct launch_place at = launch_place_of(in, total, rank);
    set_number(v, "RANK", rank);
    set_number(v, "WORLD_SIZE", total);
    set_number(v, "LOCAL_RANK", at.local);
    set_number(v, "LOCAL_WORLD_SIZE", at.local_count);
    env_set_var(v, in->words, VAR_RANK, NULL, arena_printf(v->a, "%zu", rank));
}

/* --- ports ----------------------------------------------------------------------------------- */

/* Ports on which a run's processes listen. The daemon does not ask a node for free ports: a run
 * that is planned again after a restart must get the same ports, and all its nodes must know the
 * ports before any process runs. So each run has a block of ports, computed from its number: runs
 * that share a machine, as all runs on local nodes do, mostly have close numbers, and so different
 * blocks. A run with more than BLOCK listeners continues into the next blocks. */
/* The ports are below those that the kernel assigns itself (from 32768 on), and above the ports of
 * services. */
#define FIRST  20000
#define BLOCK  16
#define BLOCKS 750

/* Runs of two daemons on one machine may have equal numbers. This moves their blocks apart: FNV-1a
 * of the parent folder of the node roots. */
static uint64_t folder_hash(const char *root)
{
    const char *end = strrchr(root, '/');
    uint64_t h = 14695981039346656037ULL;
    for (const char *p = root; p < end; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211ULL;
    return h;
}

int launch_port(const struct launch_input *in, size_t i)
{
    uint64_t again = in->attempt > 1 ? (uint64_t)in->attempt - 1 : 0;
    /* Processes that an earlier attempt left running may still use that attempt's ports, so each
     * attempt has other ports. */
    uint64_t block =
        folder_hash(in->nodes[0].root) % BLOCKS + (uint64_t)in->number + again * (BLOCKS / 2 + 1);
    return FIRST + (int)((block % BLOCKS * BLOCK + i) % (BLOCK * BLOCKS));
}

const char *launch_endpoint(struct arena *a, const struct launch_input *in, size_t node, size_t i)
{
    const char *host = in->nodes[node].address;
    bool v6 = host && strchr(host, ':');
    return arena_printf(a, "%s%s%s:%d", v6 ? "[" : "", host, v6 ? "]" : "", launch_port(in, i));
}
