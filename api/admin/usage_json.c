/* SPDX-License-Identifier: MIT
 *
 * Sums of the record of use as JSON, and a sentence of advice from the first rule that applies.
 */
#include "api/admin/usage_json.h"

#define GIB            INT64_C(1073741824)
#define US_PER_MS      1000
#define SHORT_MS       60000 /* a job that had nodes for a shorter time gets no advice */
#define WELL_USED      0.5   /* advice if a job used less than this part */
#define NEARLY_ALL     0.95
#define LOST_MATTERS   0.25
#define SAMPLED_ENOUGH 0.5 /* least part of GPU time with samples for advice */

static void add(json_t *to, const char *name, int64_t n)
{
    json_object_set_new(to, name, json_integer(n));
}

void usage_show(json_t *to, const struct usage_sums *s)
{
    add(to, "runs", s->runs);
    add(to, "attempts", s->attempts);
    add(to, "nodeMilliseconds", s->node_ms);
    add(to, "coreMilliseconds", s->core_ms);
    add(to, "gpuMilliseconds", s->gpu_ms);
    add(to, "gpuBusyMilliseconds", s->busy_ms);
    add(to, "gpuIdleMilliseconds", s->idle_ms);
    add(to, "gpuUnknownMilliseconds", s->gpu_ms - s->busy_ms - s->idle_ms);
    add(to, "gpuLostMilliseconds", s->lost_ms);
    add(to, "waitMilliseconds", s->wait_ms);
    add(to, "userMicroseconds", s->user_us);
    add(to, "kernelMicroseconds", s->kernel_us);
    add(to, "readBytes", s->read_bytes);
    add(to, "writtenBytes", s->write_bytes);
    add(to, "memoryPeakBytes", s->memory_peak);
    add(to, "unmeasured", s->unmeasured);
}

/* --- advice: the first that applies ----------------------------------------------------------- */

struct job_use {
    struct request *r;
    const struct usage_sums *s;
    double gpus, cores;  /* averages over its time on nodes */
    int64_t memory;      /* bytes: its least share on a node; 0: all */
    int64_t memory_used; /* bytes: most on a node, without page cache; 0: unknown */
};

/* Prints n with at most `digits` significant digits, but never with an exponent. */
static const char *amount(const struct job_use *u, int digits, double n)
{
    return n >= 0.001 && n < 99 ? arena_printf(&u->r->arena, "%.*g", digits, n)
                                : arena_printf(&u->r->arena, "%.0f", n);
}

static const char *on_loss(const struct job_use *u)
{
    const struct usage_sums *s = u->s;
    if (s->gpu_ms == 0 || (double)s->lost_ms < LOST_MATTERS * (double)s->gpu_ms)
        return NULL;
    return arena_printf(&u->r->arena,
                        "It lost %.1f of %.1f GPU hours when it was put back into the queue: save "
                        "its state more often.",
                        (double)s->lost_ms / 3600000, (double)s->gpu_ms / 3600000);
}

static bool is_sampled(const struct usage_sums *s)
{
    return (double)(s->busy_ms + s->idle_ms) >= SAMPLED_ENOUGH * (double)s->gpu_ms;
}

static const char *on_gpus(const struct job_use *u)
{
    const struct usage_sums *s = u->s;
    if (s->gpu_ms == 0 || !is_sampled(s))
        return NULL;
    double busy = u->gpus * (double)s->busy_ms / (double)(s->busy_ms + s->idle_ms);
    if (busy >= WELL_USED * u->gpus)
        return NULL;
    if (u->gpus <= 1) /* a job cannot ask for fewer than one */
        return arena_printf(&u->r->arena, "It used %.0f%% of its GPU time.", 100 * busy / u->gpus);
    return arena_printf(&u->r->arena, "It asked for %s GPUs and used %s: ask for fewer.",
                        amount(u, 3, u->gpus), amount(u, 2, busy));
}

static const char *on_memory(const struct job_use *u)
{
    double asked = (double)u->memory / GIB, used = (double)u->memory_used / GIB;
    if (u->memory == 0 || u->memory_used == 0)
        return NULL;
    if (used > NEARLY_ALL * asked)
        return arena_printf(&u->r->arena,
                            "It used %s of its %s GiB of memory: ask for more, or it may be "
                            "killed.",
                            amount(u, 3, used), amount(u, 3, asked));
    if (used >= WELL_USED * asked)
        return NULL;
    return arena_printf(&u->r->arena, "Of its %s GiB of memory it used at most %s: ask for less.",
                        amount(u, 3, asked), amount(u, 2, used));
}

static const char *on_cores(const struct job_use *u)
{
    const struct usage_sums *s = u->s;
    double used = (double)(s->user_us + s->kernel_us) / US_PER_MS;
    if (s->core_ms == 0 || s->unmeasured > 0 || used >= WELL_USED * (double)s->core_ms ||
        u->cores < 2)
        return NULL;
    return arena_printf(&u->r->arena, "Of its %s cores it used %s on average: ask for fewer.",
                        amount(u, 3, u->cores), amount(u, 2, u->cores * used / (double)s->core_ms));
}

static const char *on_rest(const struct job_use *u)
{
    const struct usage_sums *s = u->s;
    if (s->attempts > 0 && s->unmeasured >= s->attempts)
        return "Its nodes did not measure its use.";
    if (s->gpu_ms > 0 && !is_sampled(s))
        return "Its GPUs were sampled for less than half of its time, so their use is not known.";
    return "It used what it asked for.";
}

const char *usage_advice(struct request *r, const struct usage *rows, size_t n,
                         const struct usage_sums *s)
{
    static const char *(*const all[])(const struct job_use *u) = {on_loss, on_gpus, on_memory,
                                                                  on_cores, on_rest};
    double ms = s->node_ms > 0 ? (double)s->node_ms : 1;
    struct job_use u = {
        .r = r, .s = s, .gpus = (double)s->gpu_ms / ms, .cores = (double)s->core_ms / ms};
    const char *said = NULL;
    for (size_t i = 0; i < n; i++) {
        u.memory = i == 0 || rows[i].memory < u.memory ? rows[i].memory : u.memory;
        if (rows[i].used.memory_used > u.memory_used)
            u.memory_used = rows[i].used.memory_used;
    }
    if (s->attempts == 0)
        return "It has not ended, or it never got a node.";
    if (s->node_ms < SHORT_MS)
        return "It held its nodes for less than a minute, too short for advice.";
    for (size_t i = 0; !said && i < sizeof all / sizeof all[0]; i++)
        said = all[i](&u);
    return said;
}
