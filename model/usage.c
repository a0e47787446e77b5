/* SPDX-License-Identifier: MIT */
#include "model/usage.h"

/* floor(a * b / c) for 0 <= b <= c without overflow. */
static int64_t part(int64_t a, int64_t b, int64_t c)
{
    __extension__ typedef unsigned __int128 wide;
    return (int64_t)((wide)a * (wide)b / (wide)c);
}

static int64_t clamp(int64_t at, int64_t least, int64_t most)
{
    return at < least ? least : at > most ? most : at;
}

static int64_t gpu_ms(const struct usage *u, int64_t ms)
{
    return part(ms, u->gpus, USAGE_GPU_UNIT);
}

int64_t usage_gpu_ms(const struct usage *u)
{
    return gpu_ms(u, u->end_ms - u->begin_ms);
}

/* The growth of `total` between the ages `a` and `b` of u. */
static int64_t grown(const struct usage *u, int64_t total, int64_t a, int64_t b)
{
    int64_t whole = u->end_ms - u->begin_ms;
    return whole > 0 ? part(total, b, whole) - part(total, a, whole) : 0;
}

/* Quantities that grew between the ages `a` and `b` (ms). */
static void add_time(struct usage_sums *to, const struct usage *u, int64_t a, int64_t b)
{
    int64_t gpu = gpu_ms(u, b) - gpu_ms(u, a);
    to->node_ms += b - a;
    to->core_ms += (b - a) * u->cores;
    to->gpu_ms += gpu;
    to->busy_ms += grown(u, u->busy_ms, a, b);
    to->idle_ms += grown(u, u->idle_ms, a, b);
    to->lost_ms += u->again ? gpu : 0;
}

static void add_end(struct usage_sums *to, const struct usage *u)
{
    const struct usage_sums end = {.runs = u->rank == 0 && !u->again,
                                   .attempts = u->rank == 0,
                                   .wait_ms = u->wait_ms,
                                   .user_us = u->used.user_us,
                                   .kernel_us = u->used.kernel_us,
                                   .read_bytes = u->used.read_bytes,
                                   .write_bytes = u->used.write_bytes,
                                   .unmeasured = !u->used.known,
                                   .memory_peak = u->used.memory_peak};
    usage_add(to, &end);
}

void usage_add_cut(struct usage_sums *to, const struct usage *u, bool open, int64_t from_ms,
                   int64_t to_ms)
{
    int64_t a = clamp(from_ms, u->begin_ms, u->end_ms), b = clamp(to_ms, u->begin_ms, u->end_ms);
    if (b > a)
        add_time(to, u, a - u->begin_ms, b - u->begin_ms);
    if (!open && u->end_ms >= from_ms && u->end_ms < to_ms)
        add_end(to, u);
}

void usage_add(struct usage_sums *to, const struct usage_sums *more)
{
    to->runs += more->runs;
    to->attempts += more->attempts;
    to->node_ms += more->node_ms;
    to->core_ms += more->core_ms;
    to->gpu_ms += more->gpu_ms;
    to->busy_ms += more->busy_ms;
    to->idle_ms += more->idle_ms;
    to->lost_ms += more->lost_ms;
    to->wait_ms += more->wait_ms;
    to->user_us += more->user_us;
    to->kernel_us += more->kernel_us;
    to->read_bytes += more->read_bytes;
    to->write_bytes += more->write_bytes;
    to->unmeasured += more->unmeasured;
    if (more->memory_peak > to->memory_peak)
        to->memory_peak = more->memory_peak;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A preparation ends before the command begins, so peaks are not added. */
void usage_measured_add(struct usage_measured *to, const struct usage_measured *more)
{
    to->known |= more->known;
    to->user_us += more->user_us;
    to->kernel_us += more->kernel_us;
    to->memory_peak = larger(to->memory_peak, more->memory_peak);
    to->memory_used = larger(to->memory_used, more->memory_used);
    to->read_bytes += more->read_bytes;
    to->write_bytes += more->write_bytes;
    to->read_ops += more->read_ops;
    to->write_ops += more->write_ops;
}

int64_t usage_day(int64_t ms)
{
    return ms / USAGE_DAY_MS;
}
