/* SPDX-License-Identifier: MIT */
#include "api/plane/batch/stats.h"

#include <strings.h>

#include "api/plane/batch/reply.h"
#include "lib/jsontext.h"
#include "model/batch/spec.h"
#include "model/span.h"

#define NOTHING "PT0S" /* the duration of quantities that are not measured */

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

/* The members that all statistics have. `end_us` 0: the statistics are not final. */
static json_t *stats(struct request *r, const char *path, int64_t start_us, int64_t end_us,
                     int64_t wall_us, int64_t wait_us)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:f, s:f, s:o}", "url",
                     batch_url(r, path), "startTime", batch_time_text(r, start_us),
                     "lastUpdateTime", batch_time_text(r, end_us > 0 ? end_us : r->now_us),
                     "userCPUTime", NOTHING, "kernelCPUTime", NOTHING, "wallClockTime",
                     span_json(wall_us), "readIOps", "0", "writeIOps", "0", "readIOGiB", 0.0,
                     "writeIOGiB", 0.0, "waitTime", span_json(wait_us));
}

/* The statistics of one job or of several. */
static const char *job_stats(struct request *r, const char *path, int64_t start_us, int64_t end_us,
                             const struct batch_counts *n)
{
    json_t *o = stats(r, path, start_us, end_us, n->wall_us, n->wait_us);
    json_object_set_new(o, "numSucceededTasks", count_json(n->succeeded));
    json_object_set_new(o, "numFailedTasks", count_json(n->failed));
    json_object_set_new(o, "numTaskRetries", count_json(n->retries));
    return jsontext_new_in(&r->arena, o);
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
    if (!batch_stats_asked(r) || t->start_us == 0)
        return NULL;
    int64_t end = t->end_us > 0 ? t->end_us : r->now_us;
    return jsontext_new_in(&r->arena, stats(r, path, t->start_us, t->end_us, end - t->start_us,
                                            t->start_us - t->created_us));
}
