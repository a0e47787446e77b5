/* SPDX-License-Identifier: MIT */
#include "api/plane/batch/stats.h"

#include <strings.h>

#include "api/plane/batch/reply.h"
#include "lib/jsontext.h"
#include "model/batch/spec.h"
#include "model/span.h"
#include "storage/usage.h"

#define GIB 1073741824.0

bool batch_stats_asked(struct request *r)
{
    const char *text = request_query(r, "$expand");
    return text && strcasecmp(text, "stats") == 0;
}

static json_t *span_json(int64_t us)
{
    char text[SPAN_SIZE];
    span_text(us > 0 ? us : 0, text);
    return json_string(text);
}

static json_t *count_json(int64_t n)
{
    return json_sprintf("%lld", (long long)n);
}

/* The members that all statistics have. `end_us` 0: the statistics are not final. Values that no
 * node measured are 0. */
static json_t *stats(struct request *r, const char *path, int64_t start_us, int64_t end_us,
                     int64_t wall_us, int64_t wait_us, const struct usage_measured *used)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:o}", "url",
                     batch_url(r, path), "startTime", batch_time_text(r, start_us),
                     "lastUpdateTime", batch_time_text(r, end_us > 0 ? end_us : r->now_us),
                     "userCPUTime", span_json(used->user_us), "kernelCPUTime",
                     span_json(used->kernel_us), "wallClockTime", span_json(wall_us), "readIOps",
                     count_json(used->read_ops), "writeIOps", count_json(used->write_ops),
                     "readIOGiB", (double)used->read_bytes / GIB, "writeIOGiB",
                     (double)used->write_bytes / GIB, "waitTime", span_json(wait_us));
}

json_t *batch_counts_stats(struct request *r, const char *path, int64_t start_us, int64_t end_us,
                           const struct batch_counts *n)
{
    json_t *o = stats(r, path, start_us, end_us, n->wall_us, n->wait_us, &n->used);
    json_object_set_new(o, "numSucceededTasks", count_json(n->succeeded));
    json_object_set_new(o, "numFailedTasks", count_json(n->failed));
    json_object_set_new(o, "numTaskRetries", count_json(n->retries));
    return o;
}

static const char *job_stats(struct request *r, const char *path, int64_t start_us, int64_t end_us,
                             const struct batch_counts *n)
{
    return jsontext_new_in(&r->arena, batch_counts_stats(r, path, start_us, end_us, n));
}

const char *batch_job_stats(struct request *r, const struct batch_job *j, const char *path)
{
    struct batch_counts n;
    struct err e;
    if (!batch_stats_asked(r) ||
        st_batch_job_counts(arm_of(r)->storage, &r->arena, j->id, &n, &e) != 1)
        return NULL;
    return job_stats(r, path, j->start_us, j->end_us, &n);
}

const char *batch_schedule_stats(struct request *r, const struct batch_schedule *s,
                                 const char *path)
{
    struct batch_counts n;
    struct err e;
    if (!batch_stats_asked(r) ||
        st_batch_schedule_counts(arm_of(r)->storage, &r->arena, s->id, &n, &e) != 1)
        return NULL;
    return job_stats(r, path, s->created_us, s->end_us, &n);
}

const char *batch_task_stats(struct request *r, const struct batch_task *t, const char *path)
{
    struct usage_measured used = {0};
    struct usage *rows;
    struct err e;
    size_t n;
    if (!batch_stats_asked(r) || t->start_us == 0 ||
        st_usage_of_owner(arm_of(r)->storage, &r->arena, RES_BATCH_TASK, t->id, &rows, &n, &e) < 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        usage_measured_add(&used, &rows[i].used);
    int64_t end = t->end_us > 0 ? t->end_us : r->now_us;
    return jsontext_new_in(&r->arena, stats(r, path, t->start_us, t->end_us, end - t->start_us,
                                            t->start_us - t->created_us, &used));
}
