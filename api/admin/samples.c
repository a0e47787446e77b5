/* SPDX-License-Identifier: MIT
 *
 * The history of samples of one node (storage/history/history.h).
 */
#include "storage/history/history.h"

#include <string.h>

#include "api/admin/admin.h"
#include "api/admin/node_json.h"
#include "api/admin/routes.h"
#include "api/http/request.h"
#include "lib/timefmt.h"

#define MAX_DEFAULT 240 /* samples: one hour */
#define MS_PER_S    1000
#define US_PER_S    INT64_C(1000000)

/* The finest resolution whose samples from time `from_s` are still kept. */
static enum history_level finest(int64_t from_s, int64_t now_s)
{
    int level = HISTORY_RAW;
    while (level + 1 < HISTORY_LEVELS && now_s - from_s > history_ages[level].keeps_s)
        level++;
    return level;
}

static int read_step(struct request *r, struct history_query *q, int64_t now_s, struct err *e)
{
    const char *step = request_query(r, "step");
    q->level = finest(q->from_s, now_s);
    for (int i = 0; step && i < HISTORY_LEVELS; i++)
        if (strcmp(step, history_ages[i].name) == 0) {
            q->level = i;
            return 0;
        }
    if (!step)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "step", "'%.100s' is not a valid step; use 15s, 5m or 1h",
                   step);
}

static int read_query(struct request *r, struct history_query *q, struct err *e)
{
    int64_t now_s = r->now_us / US_PER_S, from, to;
    long max;
    q->node = request_query(r, "node");
    if (!q->node || !*q->node)
        return err_set(e, ERR_INVALID_QUERY, "node",
                       "'node' is missing: name a machine that GET /batchaid/nodes lists");
    if (request_query_time(r, "from", (now_s - history_ages[HISTORY_RAW].keeps_s) * MS_PER_S, &from,
                           e) < 0 ||
        request_query_time(r, "to", (now_s + 1) * MS_PER_S, &to, e) < 0 ||
        request_query_int(r, "max", (struct query_bounds){1, HISTORY_READ_MOST, MAX_DEFAULT}, &max,
                          e) < 0)
        return -1;
    q->from_s = from / MS_PER_S;
    q->to_s = to / MS_PER_S;
    q->max = (int)max;
    return read_step(r, q, now_s, e);
}

static json_t *show(const struct node_sample *s)
{
    json_t *to = sample_show(s), *gpus = json_array();
    for (int i = 0; i < s->n_gpus; i++) {
        json_t *gpu = json_pack("{s:i}", "index", s->gpus[i].index);
        gpu_sample_show(&s->gpus[i], gpu);
        json_array_append_new(gpus, gpu);
    }
    json_object_set_new(to, "gpus", gpus);
    return to;
}

static void on_rows(void *ctx, const struct err *why, const struct node_sample *rows, size_t n,
                    bool more)
{
    struct request *r = ctx;
    char next[TIMEFMT_SIZE];
    if (why) {
        request_finish(r, reply_err(r, why));
        return;
    }
    json_t *list = json_array(), *body = json_pack("{s:o}", "value", list);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, show(&rows[i]));
    if (more && n > 0) {
        timefmt_wire(rows[n - 1].at_us + US_PER_S, next);
        json_object_set_new(body, "next", json_string(next));
    }
    request_finish(r, reply_json(r, 200, body));
}

struct replied *samples_list(struct request *r)
{
    struct history_query q = {0};
    struct err e;
    if (read_query(r, &q, &e) < 0 || history_read(admin_of(r)->samples, &q, on_rows, r, &e) < 0)
        return reply_err(r, &e);
    return reply_later(r);
}
