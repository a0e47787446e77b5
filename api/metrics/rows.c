/* SPDX-License-Identifier: MIT */
#include "api/metrics/rows.h"

#include <uv.h>

#include "lib/arena.h"

/* time per turn of the loop; not a number of rows, since a row may be a machine with many GPUs */
#define SLICE_NS (5 * 1000 * 1000)

struct row_page {
    struct request *r;
    /* owned by this page until it is sent; if the request ends earlier, it is freed with the
     * request */
    struct metric_text text;
    const struct row_metric *metric;
    const char *rows;
    size_t size, n, at;
};

struct metric_text metrics_page(const struct request *r)
{
    return (struct metric_text){.b = STRBUF_INIT,
                                .open = metric_text_wants_open(request_header(r, "Accept"))};
}

void metrics_reply(struct request *r, struct metric_text *t)
{
    metric_text_end(t);
    const char *type = t->open ? METRICS_OPEN_TYPE : METRICS_TEXT_TYPE;
    request_finish(r, reply_text(r, 200, type, strbuf_take(&t->b)));
}

static void drop(void *kept)
{
    struct row_page *s = kept;
    strbuf_free(&s->text.b);
}

static void show_row(struct row_page *s)
{
    if (s->at == 0)
        metric_family(&s->text, s->metric->name, s->metric->type, s->metric->help);
    if (s->at < s->n)
        s->metric->show(&s->text, s->rows + s->at++ * s->size);
    if (s->at == s->n) {
        s->metric++;
        s->at = 0;
    }
}

static void next(struct request *r, void *ctx)
{
    struct row_page *s = ctx;
    uint64_t until_ns = uv_hrtime() + SLICE_NS;
    while (s->metric->name) {
        show_row(s);
        if (uv_hrtime() >= until_ns) {
            request_again(r, next, s);
            return;
        }
    }
    metrics_reply(r, &s->text);
}

void rows_show(struct request *r, const struct row_metric *table, const void *rows, size_t size,
               size_t n)
{
    struct row_page *s = arena_alloc(&r->arena, sizeof *s);
    *s = (struct row_page){r, metrics_page(r), table, rows, size, n, 0};
    request_keep(r, s, drop);
    request_again(r, next, s);
}
