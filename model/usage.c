/* SPDX-License-Identifier: MIT
 *
 * Computes sums over the record of use, as integers. No sum grows beyond USAGE_MOST, so none
 * overflows, because machines, which are not trusted, report the numbers. Pure.
 */
#include "model/usage.h"

/* floor(a * b / c), at most USAGE_MOST. */
static int64_t part(int64_t a, int64_t b, int64_t c)
{
    __extension__ typedef unsigned __int128 wide;
    wide whole = (wide)a * (wide)b / (wide)c;
    return whole > USAGE_MOST ? USAGE_MOST : (int64_t)whole;
}

/* Adds `more` to *to, up to USAGE_MOST; ignores a negative `more`. */
static void grow(int64_t *to, int64_t more)
{
    if (more > 0)
        *to = more > USAGE_MOST - *to ? USAGE_MOST : *to + more;
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

/* Returns the part of `total`, which grows evenly during u, that belongs to the time from `a` to
 * `b`. Both are milliseconds since the beginning of u. */
static int64_t grown(const struct usage *u, int64_t total, int64_t a, int64_t b)
{
    int64_t whole = u->end_ms - u->begin_ms;
    return whole > 0 ? part(total, b, whole) - part(total, a, whole) : 0;
}

/* Adds the quantities that grew from `a` to `b`, both in milliseconds since the beginning of u. */
static void add_time(struct usage_sums *to, const struct usage *u, int64_t a, int64_t b)
{
    int64_t gpu = gpu_ms(u, b) - gpu_ms(u, a);
    grow(&to->node_ms, b - a);
    grow(&to->core_ms, part(b - a, u->cores, 1));
    grow(&to->gpu_ms, gpu);
    grow(&to->busy_ms, grown(u, u->busy_ms, a, b));
    grow(&to->idle_ms, grown(u, u->idle_ms, a, b));
    grow(&to->lost_ms, u->again ? gpu : 0);
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
    grow(&to->runs, more->runs);
    grow(&to->attempts, more->attempts);
    grow(&to->node_ms, more->node_ms);
    grow(&to->core_ms, more->core_ms);
    grow(&to->gpu_ms, more->gpu_ms);
    grow(&to->busy_ms, more->busy_ms);
    grow(&to->idle_ms, more->idle_ms);
    grow(&to->lost_ms, more->lost_ms);
    grow(&to->wait_ms, more->wait_ms);
    grow(&to->user_us, more->user_us);
    grow(&to->kernel_us, more->kernel_us);
    grow(&to->read_bytes, more->read_bytes);
    grow(&to->write_bytes, more->write_bytes);
    grow(&to->unmeasured, more->unmeasured);
    if (more->memory_peak > to->memory_peak)
        to->memory_peak = more->memory_peak;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Of memory, takes the larger peak instead of the sum, because a preparation ends before the
 * command begins. */
void usage_measured_add(struct usage_measured *to, const struct usage_measured *more)
{
    to->known |= more->known;
    grow(&to->user_us, more->user_us);
    grow(&to->kernel_us, more->kernel_us);
    to->memory_peak = larger(to->memory_peak, more->memory_peak);
    to->memory_used = larger(to->memory_used, more->memory_used);
    grow(&to->read_bytes, more->read_bytes);
    grow(&to->write_bytes, more->write_bytes);
    grow(&to->read_ops, more->read_ops);
    grow(&to->write_ops, more->write_ops);
}

/* The most CPU time (us) or disk transfer (bytes) in a millisecond that is believed, more than any
 * machine can do: it equals a million busy cores, or a terabyte per second. */
#define MOST_IN_MS INT64_C(1000000000)

static void bound(int64_t *value, int64_t most)
{
    *value = clamp(*value, 0, most);
}

void usage_believe(struct usage *u)
{
    struct usage_measured *m = &u->used;
    int64_t most = part(u->end_ms - u->begin_ms + 1000, MOST_IN_MS, 1);
    bound(&m->user_us, most);
    bound(&m->kernel_us, most);
    bound(&m->read_bytes, most);
    bound(&m->write_bytes, most);
    bound(&m->read_ops, most);
    bound(&m->write_ops, most);
    bound(&m->memory_peak, USAGE_MEMORY_MOST);
    bound(&m->memory_used, USAGE_MEMORY_MOST);
}

void usage_sampled(struct usage *u, int64_t busy_us, int64_t idle_us)
{
    int64_t all = usage_gpu_ms(u);
    u->busy_ms = clamp(gpu_ms(u, clamp(busy_us, 0, USAGE_MOST) / 1000), 0, all);
    u->idle_ms = clamp(gpu_ms(u, clamp(idle_us, 0, USAGE_MOST) / 1000), 0, all - u->busy_ms);
}

int64_t usage_day(int64_t ms)
{
    return ms / USAGE_DAY_MS;
}
