/* SPDX-License-Identifier: MIT
 *
 * The usage of an account. It is computed from the rows that exist now, so tasks of deleted jobs
 * and removed nodes do not count. Memory is the request's. On the loop's thread.
 */
#include <ctype.h>

#include "api/plane/batch/batch.h"
#include "api/plane/batch/jobs.h"
#include "api/plane/batch/pool_stats.h"
#include "api/plane/batch/pools.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/routes.h"
#include "api/plane/batch/stats.h"
#include "lib/jsontext.h"
#include "lib/timefmt.h"
#include "model/span.h"
#include "storage/batch_jobs.h"
#include "storage/storage.h"

#define POOLS_AT_ONCE 100
#define HOUR_US       (INT64_C(3600) * 1000000)
/* the interval of usage metrics, half an hour as in the service */
#define INTERVAL_US (HOUR_US / 2)

static struct replied *reply(struct request *r, const char *fragment, json_t *stats)
{
    struct strbuf text = STRBUF_INIT;
    json_auto_t *shown = stats;
    jsontext_add(&text, shown);
    return batch_reply_element(r, fragment, &text);
}

struct replied *statistics_of_jobs(struct request *r)
{
    struct err e;
    struct batch_counts n;
    const struct batch_account *b = batch_account_of(r);
    if (st_batch_account_counts(arm_of(r)->storage, &r->arena, b->id, &n, &e) < 0)
        return reply_err(r, &e);
    return reply(r, "jobstats/@Element",
                 batch_counts_stats(r, "/lifetimejobstats", b->created_us, 0, &n));
}

/* --- nodes ------------------------------------------------------------------------------------ */

static int add_all(struct request *r, struct pool_sums *out, struct err *e)
{
    struct batch_pool_rows rows;
    const char *after = "";
    do {
        if (st_batch_pool_list(arm_of(r)->storage, &r->arena, batch_account_of(r)->id, NULL,
                               &(struct st_names){.after = after, .limit = POOLS_AT_ONCE}, &rows,
                               e) < 0)
            return -1;
        for (size_t i = 0; i < rows.n; i++)
            if (pool_sums_add(r, &rows.items[i], out, e) < 0)
                return -1;
        after = rows.n > 0 ? rows.items[rows.n - 1].name : after;
    } while (rows.n == POOLS_AT_ONCE);
    return 0;
}

struct replied *statistics_of_pools(struct request *r)
{
    struct err e;
    struct pool_sums all = {.samples = 0};
    if (add_all(r, &all, &e) < 0)
        return reply_err(r, &e);
    return reply(r, "poolstats/@Element",
                 pool_sums_json(r, &all, "/lifetimepoolstats", batch_account_of(r)->created_us));
}

/* --- usage ------------------------------------------------------------------------------------ */

static int read_time(struct request *r, const char *name, int64_t fallback, int64_t *out,
                     struct err *e)
{
    const char *text = request_query(r, name);
    *out = fallback;
    if (!text || timefmt_parse_offset(text, out) == 0)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, name, "%s must be an instant, as 2018-06-07T21:34:00Z",
                   name);
}

/* Reads the interval that the request asks for; the default is the last complete half hour. */
static int read_interval(struct request *r, int64_t *from_us, int64_t *to_us, struct err *e)
{
    int64_t last = r->now_us - r->now_us % INTERVAL_US;
    if (read_time(r, "endtime", last, to_us, e) < 0 ||
        read_time(r, "starttime", *to_us - INTERVAL_US, from_us, e) < 0)
        return -1;
    if (*from_us < *to_us)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "starttime", "starttime must be before endtime");
}

static const char *lower(struct arena *a, const char *text)
{
    char *copy = arena_strdup(a, text);
    for (char *c = copy; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return copy;
}

static bool was_there(const struct batch_list *l, const void *row)
{
    const struct pool_interval *i = l->of;
    return ((const struct batch_pool *)row)->created_us < i->to_us;
}

static int render_usage(const struct batch_list *l, const void *row, struct strbuf *out,
                        struct err *e)
{
    struct request *r = l->r;
    const struct pool_interval *i = l->of;
    const struct batch_pool *p = row;
    int64_t us;
    if (pool_core_time(r, p->id, i, &us, e) < 0)
        return -1;
    json_auto_t *usage =
        json_pack("{s:s, s:s, s:s, s:s, s:f}", "poolId", p->name, "startTime",
                  batch_time_text(r, i->from_us), "endTime", batch_time_text(r, i->to_us), "vmSize",
                  lower(&r->arena, p->vm_size), "totalCoreHours", (double)us / (double)HOUR_US);
    if (r->version & BATCH_UNTIL(BATCH_7_0)) { /* this traffic is not measured */
        json_object_set_new(usage, "dataIngressGiB", json_real(0));
        json_object_set_new(usage, "dataEgressGiB", json_real(0));
    }
    jsontext_add(out, usage);
    return 0;
}

/* Replies with one entry for each pool that existed in the interval; an entry is about the whole
 * interval. */
struct replied *usage_of_pools(struct request *r)
{
    static const struct batch_filter filters[] = {
        [BATCH_POOL_ID] = {"poolId", BATCH_BY_TEXT, FILTER_ANY_OP, NULL}};
    static const struct batch_rows rows = {
        .list = {.fragment = "poolusagemetrics", .filters = filters, .n_filters = 1},
        BATCH_ROWS_OF(struct batch_pool),
        .fetch = batch_pools_fetch,
        .is_shown = was_there,
        .render = render_usage};
    struct pool_interval *i = arena_alloc(&r->arena, sizeof *i);
    struct err e;
    *i = (struct pool_interval){.dedicated = false};
    if (read_interval(r, &i->from_us, &i->to_us, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_rows(r, &rows, batch_account_of(r)->id, i);
}
