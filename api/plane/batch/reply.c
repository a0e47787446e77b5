/* SPDX-License-Identifier: MIT
 *
 * Writes OData's envelope, ETags and the headers of replies, and checks conditional headers. Texts
 * are the arena's. On the loop's thread.
 */
#include "api/plane/batch/reply.h"

#include <stdlib.h>
#include <string.h>

#include "api/http/url.h"
#include "api/plane/batch/errors.h"
#include "api/plane/storage/conditions.h"
#include "lib/jsontext.h"

const char *batch_metadata(struct request *r, const char *fragment)
{
    return arena_concat(&r->arena, request_base(r), "/$metadata#", fragment);
}

const char *batch_url(struct request *r, const char *path)
{
    return arena_concat(&r->arena, request_base(r), path);
}

const char *batch_segment(struct request *r, const char *name)
{
    struct strbuf b = STRBUF_INIT;
    url_encode(&b, name, 0);
    const char *text = arena_strdup(&r->arena, b.len ? b.s : "");
    strbuf_free(&b);
    return text;
}

void batch_etag(struct request *r, int64_t modified_us)
{
    char when[TIMEFMT_SIZE];
    timefmt_http(modified_us, when);
    reply_header(r, "ETag", "0x%llX", (unsigned long long)time_to_ticks(modified_us));
    reply_header(r, "Last-Modified", "%s", when);
}

int64_t batch_modified(const struct request *r, int64_t was_us)
{
    return r->now_us > was_us ? r->now_us : was_us + 1;
}

/* Refuses more than one condition. With If-Match, If-Unmodified-Since is not counted; with
 * If-None-Match, If-Modified-Since is not. */
static int check_together(struct request *r, struct err *e)
{
    bool match = request_header(r, "If-Match"), none = request_header(r, "If-None-Match");
    bool same = !match && request_header(r, "If-Unmodified-Since");
    bool modified = !none && request_header(r, "If-Modified-Since");
    if (match + none + same + modified <= 1)
        return 0;
    return err_set(e, BATCH_MULTIPLE_CONDITION_HEADERS_NOT_SUPPORTED, NULL,
                   "A request can have one condition: If-Match or If-Unmodified-Since, or else "
                   "If-None-Match or If-Modified-Since.");
}

int batch_conditions(struct request *r, int64_t modified_us, struct err *e)
{
    static const struct condition_kinds kinds = {BATCH_NOT_MODIFIED, BATCH_CONDITION,
                                                 BATCH_INVALID_HEADER_VALUE};
    const struct condition_state now = {modified_us != 0, (uint64_t)time_to_ticks(modified_us),
                                        modified_us};
    return check_together(r, e) < 0 ? -1 : conditions_check_as(r, &now, &kinds, e);
}

struct replied *batch_reply_json(struct request *r, int status, json_t *body)
{
    json_auto_t *shown = body;
    return reply_text(r, status, BATCH_CONTENT_TYPE, jsontext(shown));
}

struct replied *batch_reply_element(struct request *r, const char *fragment, struct strbuf *object)
{
    struct strbuf b = STRBUF_INIT;
    const char *metadata = batch_metadata(r, fragment);
    strbuf_puts(&b, "{\"odata.metadata\":");
    jsontext_add_text(&b, metadata, strlen(metadata));
    if (object->len > 2)
        strbuf_putc(&b, ',');
    strbuf_add(&b, object->s + 1, object->len - 1);
    strbuf_free(object);
    return reply_text(r, 200, BATCH_CONTENT_TYPE, strbuf_take(&b));
}

struct replied *batch_reply_written(struct request *r, int status, const char *path,
                                    int64_t modified_us)
{
    const char *url = batch_url(r, path);
    if (modified_us)
        batch_etag(r, modified_us);
    reply_header_text(r, "DataServiceId", url);
    if (status == 201)
        reply_header_text(r, "Location", url);
    return reply_empty(r, status);
}

const char *batch_etag_text(struct request *r, int64_t modified_us)
{
    return arena_printf(&r->arena, "0x%llX", (unsigned long long)time_to_ticks(modified_us));
}

const char *batch_time_text(struct request *r, int64_t us)
{
    char when[TIMEFMT_SIZE];
    if (us == 0)
        return NULL;
    timefmt_exact(us, when);
    return arena_strdup(&r->arena, when);
}
