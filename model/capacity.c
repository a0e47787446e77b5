/* SPDX-License-Identifier: MIT
 *
 * Compares capacities of nodes with needs of runs, and makes texts of them. Pure.
 */
#include "model/capacity.h"

bool capacity_fits(const struct capacity *has, const struct capacity *need)
{
    return has->slots >= need->slots && has->gpus >= need->gpus && has->cores >= need->cores &&
           has->memory >= need->memory;
}

void capacity_raise(struct capacity *most, const struct capacity *other)
{
    if (most->slots < other->slots)
        most->slots = other->slots;
    if (most->gpus < other->gpus)
        most->gpus = other->gpus;
    if (most->cores < other->cores)
        most->cores = other->cores;
    if (most->memory < other->memory)
        most->memory = other->memory;
}

/* Writes the amount in the largest unit in which it is a whole number; large odd amounts, as
 * machines have them, are rounded down. */
static const char *memory_text(struct arena *a, int64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    enum { EXACT_BELOW = 10000 };
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof units[0] && bytes >= 1024 &&
           (bytes % 1024 == 0 || bytes >= EXACT_BELOW)) {
        bytes /= 1024;
        i++;
    }
    return arena_printf(a, "%lld %s of memory", (long long)bytes, units[i]);
}

static const char *count_text(struct arena *a, int n, const char *what)
{
    return arena_printf(a, "%d %s%s", n, what, n == 1 ? "" : "s");
}

const char *capacity_text(struct arena *a, const struct capacity *c)
{
    const char *parts[4], *out = "nothing";
    size_t n = 0;
    if (c->slots > 0)
        parts[n++] = count_text(a, c->slots, "slot");
    if (c->gpus > 0)
        parts[n++] = count_text(a, c->gpus, "GPU");
    if (c->cores > 0)
        parts[n++] = count_text(a, c->cores, "core");
    if (c->memory > 0)
        parts[n++] = memory_text(a, c->memory);
    for (size_t i = 0; i < n; i++)
        out = i == 0 ? parts[0]
                     : arena_printf(a, "%s%s%s", out, i + 1 == n ? " and " : ", ", parts[i]);
    return out;
}
