/* SPDX-License-Identifier: MIT */
#include "api/paging.h"

#include <limits.h>

#include "api/url.h"

#define MAX_RESULTS 1000 /* spec: MaxResultsParameter */

int page_parse(struct request *r, struct page *page, struct err *e)
{
    long after;
    if (request_query_int(r, "maxresults", 1, MAX_RESULTS, MAX_RESULTS, &page->max, e) < 0 ||
        request_query_int(r, "$skiptoken", 0, LONG_MAX, 0, &after, e) < 0)
        return -1;
    page->after = after;
    return 0;
}

static json_t *next_link(struct request *r, const struct page *page, int64_t last_id)
{
    struct strbuf version = STRBUF_INIT;
    url_encode(&version, r->version_name ? r->version_name : "", 0);
    char *link = arena_printf(&r->arena, "%s%s?api-version=%s&maxresults=%ld&%%24skiptoken=%lld",
                              request_base(r), r->path, version.s ? version.s : "", page->max,
                              (long long)last_id);
    strbuf_free(&version);
    return json_string(link);
}

struct replied *page_reply(struct request *r, const struct page *page, json_t *items, bool more,
                           int64_t last_id)
{
    json_t *body = json_pack("{s:o}", "value", items);
    if (more)
        json_object_set_new(body, "nextLink", next_link(r, page, last_id));
    return reply_json(r, 200, body);
}
