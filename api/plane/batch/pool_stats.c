/* SPDX-License-Identifier: MIT
 *
 * Statistics of pools: the time of nodes from rows, and the use of resources from samples. Only
 * pools with automatic scaling have samples; others show 0.
 */
#include "api/plane/batch/pool_stats.h"

#include <math.h>

#include "api/plane/batch/list.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/stats.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/batch/spec.h"
#include "model/span.h"
#include "scheduler/formula/samples.h"
#include "scheduler/front/batch/samples.h"
#include "storage/storage.h"

#define GIB 1073741824.0

int pool_core_time(struct request *r, int64_t pool_id, const struct pool_interval *within,
                   int64_t *out, struct err *e)
{
    struct node *nodes;
    size_t n;
    int64_t to_us = within->to_us < r->now_us ? within->to_us : r->now_us;
    *out = 0;
    if (st_node_list(arm_of(r)->storage, &r->arena, pool_id, &nodes, &n, e) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct node *nd = &nodes[i];
        int64_t since = nd->created_us > within->from_us ? nd->created_us : within->from_us;
        int cores = nd->has.cores > 0 ? nd->has.cores : 1;
        bool counts = !within->dedicated || nd->vm_priority != VM_LOWPRIORITY;
        if (since < to_us && counts)
            *out += (to_us - since) * cores;
    }
    return 0;
}

/* The value of the metric in sample `i`; 0 if it is missing. */
static double at(const struct samples *s, size_t i, enum sample_metric m)
{
    double value = samples_value(s, i, m);
    return isnan(value) ? 0 : value;
}

static void add_sample(struct pool_sums *to, const struct samples *s, size_t i)
{
    double memory = at(s, i, SAMPLE_MEMORY_BYTES), disk = at(s, i, SAMPLE_DISK_BYTES);
    if (isnan(samples_value(s, i, SAMPLE_CPU_PERCENT)))
        return; /* no machine answered at that time */
    to->samples++;
    to->cpu += at(s, i, SAMPLE_CPU_PERCENT);
    to->memory += memory;
    to->disk += disk;
    to->peak_memory = fmax(to->peak_memory, memory);
    to->peak_disk = fmax(to->peak_disk, disk);
    to->read_ops += at(s, i, SAMPLE_DISK_READ_OPS);
    to->write_ops += at(s, i, SAMPLE_DISK_WRITE_OPS);
    to->read += at(s, i, SAMPLE_DISK_READ_BYTES);
    to->written += at(s, i, SAMPLE_DISK_WRITE_BYTES);
    to->in += at(s, i, SAMPLE_NETWORK_IN_BYTES);
    to->out += at(s, i, SAMPLE_NETWORK_OUT_BYTES);
}

int pool_sums_add(struct request *r, const struct batch_pool *p, struct pool_sums *s, struct err *e)
{
    const struct pool_interval life = {.to_us = r->now_us, .dedicated = true};
    int64_t us;
    if (pool_core_time(r, p->id, &life, &us, e) < 0)
        return -1;
    s->core_us += us;
    struct samples *taken = batch_samples_read(batch_of(r)->front, &r->arena, p->id, e);
    if (!taken)
        return -1;
    for (size_t i = 0; i < samples_count(taken); i++)
        add_sample(s, taken, i);
    samples_destroy(taken);
    return 0;
}

static json_t *resources(struct request *r, const struct pool_sums *s, int64_t since_us)
{
    double n = s->samples > 0 ? (double)s->samples : 1;
    return json_pack(
        "{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:f, s:f, s:f, s:f}", "startTime",
        batch_time_text(r, since_us), "lastUpdateTime", batch_time_text(r, r->now_us),
        "avgCPUPercentage", s->cpu / n, "avgMemoryGiB", s->memory / n / GIB, "peakMemoryGiB",
        s->peak_memory / GIB, "avgDiskGiB", s->disk / n / GIB, "peakDiskGiB", s->peak_disk / GIB,
        "diskReadIOps", json_sprintf("%.0f", s->read_ops), "diskWriteIOps",
        json_sprintf("%.0f", s->write_ops), "diskReadGiB", s->read / GIB, "diskWriteGiB",
        s->written / GIB, "networkReadGiB", s->in / GIB, "networkWriteGiB", s->out / GIB);
}

json_t *pool_sums_json(struct request *r, const struct pool_sums *s, const char *path,
                       int64_t since_us)
{
    const char *since = batch_time_text(r, since_us), *now = batch_time_text(r, r->now_us);
    char spent[SPAN_SIZE];
    span_text(s->core_us, spent);
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:s, s:s}, s:o}", "url", batch_url(r, path),
                     "startTime", since, "lastUpdateTime", now, "usageStats", "startTime", since,
                     "lastUpdateTime", now, "dedicatedCoreTime", spent, "resourceStats",
                     resources(r, s, since_us));
}

const char *pool_stats(struct request *r, const struct batch_pool *p, const char *path)
{
    struct pool_sums s = {.samples = 0};
    struct err e;
    if (!batch_stats_asked(r))
        return NULL;
    if (pool_sums_add(r, p, &s, &e) < 0) {
        LOG_ERROR(r->config->log, "pool.statistics_not_read", LF_STR("pool", p->name),
                  LF_STR("why", e.msg));
        return NULL;
    }
    json_auto_t *o = pool_sums_json(r, &s, path, p->created_us);
    const char *text = jsontext_in(&r->arena, o);
    return text;
}
