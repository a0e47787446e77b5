/* SPDX-License-Identifier: MIT
 *
 * The common part of pools and certificates of a Batch account: conditions (If-Match), lists, and
 * the JSON around the properties. The request owns all memory. Called only on the loop's thread.
 */
#include "api/arm/batch/child.h"

#include <stdlib.h>
#include <string.h>

#include "api/arm/batch/application.h"
#include "api/arm/batch/errors.h"
#include "api/arm/operation.h"
#include "api/plane/storage/conditions.h"
#include "lib/jsontext.h"
#include "model/span.h"

int child_conditions(struct request *r, int64_t updated_us, struct err *e)
{
    static const struct condition_kinds kinds = {BATCHRM_CONDITION, BATCHRM_CONDITION,
                                                 BATCHRM_INVALID_VALUE};
    const struct condition_state now = {updated_us != 0, (uint64_t)time_to_ticks(updated_us),
                                        updated_us};
    return conditions_check_as(r, &now, &kinds, e);
}

/* Reads $select, such as "properties/vmSize, name". Members outside of the properties are always
 * shown. */
static int read_select(struct request *r, const struct child_kind *kind, schema_set *set,
                       struct err *e)
{
    static const char prefix[] = "properties/";
    const char *text = request_query(r, "$select");
    struct strbuf names = STRBUF_INIT;
    for (const char *at = text ? text : ""; *(at += strspn(at, " ,"));) {
        size_t n = strcspn(at, " ,");
        if (n > strlen(prefix) && strncmp(at, prefix, strlen(prefix)) == 0) {
            strbuf_add(&names, at + strlen(prefix), n - strlen(prefix));
            strbuf_putc(&names, ',');
        }
        at += n;
    }
    int rc = schema_select(kind->properties, (enum api_version)r->version,
                           names.len > 0 ? names.s : NULL, set, e);
    strbuf_free(&names);
    return rc;
}

struct replied *child_list(struct request *r, const struct child_kind *kind,
                           const struct batch_rows *rows)
{
    struct child_list *list = arena_alloc(&r->arena, sizeof *list);
    struct err e;
    if (find_made_batch_account(r, &list->account, &e) < 0 ||
        read_select(r, kind, &list->set, &e) < 0)
        return reply_err(r, &e);
    return batch_reply_rows(r, rows, list->account.id, list);
}

/* --- showing ---------------------------------------------------------------------------------- */

json_t *child_time(int64_t us)
{
    char text[TIMEFMT_SIZE];
    timefmt_exact(us, text);
    return json_string(text);
}

json_t *child_span(int64_t us)
{
    char text[SPAN_SIZE];
    span_text(us, text);
    return json_string(text);
}

const char *child_tags(struct request *r, const json_t *body)
{
    const json_t *tags = json_object_get(body, "tags");
    if (!json_is_object(tags))
        return NULL;
    return jsontext_in(&r->arena, tags);
}

void child_render(struct request *r, const struct child *c, json_t *properties, schema_set set,
                  struct strbuf *out)
{
    enum api_version v = (enum api_version)r->version;
    const char *account = batch_account_id(r, c->account), *collection = c->kind->collection;
    const char *all = jsontext_new_in(&r->arena, properties);
    struct strbuf shown = STRBUF_INIT;
    schema_render(&shown,
                  &(struct rendering){
                      .schema = c->kind->properties, .version = v, .stored = all, .set = set});
    const char *id = arena_printf(&r->arena, "%s/%s/%s", account, collection, c->name);
    const char *type = arena_concat(&r->arena, "Microsoft.Batch/batchAccounts/", collection);
    const struct over over[] = {
        SHOW_TEXT("id", id),
        SHOW_TEXT("name", c->name),
        SHOW_TEXT("type", type),
        SHOW_TEXT("etag", weak_etag(r, c->updated_us)),
        SHOW_JSON("properties", shown.s),
        SHOW_JSON("identity", "{\"type\":\"None\"}"),
        SHOW_JSON("tags", c->tags),
    };
    schema_render(out,
                  &(struct rendering){.schema = c->kind->whole, .version = v, SHOW_LIST(over)});
    strbuf_free(&shown);
}

struct replied *child_show(struct request *r, const struct child *c, json_t *properties)
{
    struct strbuf out = STRBUF_INIT;
    child_render(r, c, properties, 0, &out);
    reply_header_text(r, "ETag", weak_etag(r, c->updated_us));
    return reply_json_text(r, 200, &out);
}

/* --- deleting --------------------------------------------------------------------------------- */

struct replied *child_deleted(struct request *r, const struct child *c)
{
    reply_header(r, "Location", "%s%s/%s/%s-%llX?api-version=%s", request_base(r),
                 batch_account_id(r, c->account), c->kind->deletions, c->name,
                 (unsigned long long)time_to_ticks(c->updated_us), r->version_name);
    reply_retry_after(r);
    return reply_empty(r, 202);
}

const char *child_deletion(struct request *r, uint64_t *ticks)
{
    const char *given = request_param(r, "operation"), *dash = strrchr(given, '-');
    *ticks = dash ? strtoull(dash + 1, NULL, 16) : 0;
    return dash ? arena_strndup(&r->arena, given, (size_t)(dash - given)) : given;
}
