/* SPDX-License-Identifier: MIT
 *
 * Writes accepted documents, compares them with stored documents; functions that all Batch AI
 * resources share. The request owns all memory. Called only on the loop's thread.
 */
#include "api/arm/batchai/common.h"

#include <assert.h>
#include <string.h>

#include "api/arm/batchai/batchai.h"
#include "api/arm/batchai/errors.h"
#include "api/arm/batchai/lookup.h"
#include "api/arm/batchai/render.h"
#include "api/arm/batchai/routes.h"
#include "api/arm/kind.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

void accepted_write(struct request *r, struct accepted *a)
{
    assert(!a->doc_text);
    a->doc_text = request_own_text(r, jsontext(a->doc));
}

void accepted_add(struct request *r, struct accepted *a, const char *name, const char *json,
                  size_t n)
{
    struct strbuf out = STRBUF_INIT;
    size_t len = strlen(a->doc_text);
    /* "properties" is the last member in the tables of all resources, and so in the document. */
    assert(len > 3 && a->doc_text[len - 2] == '}' && a->doc_text[len - 3] != '{');
    strbuf_add(&out, a->doc_text, len - 2);
    strbuf_printf(&out, ",\"%s\":", name);
    strbuf_add(&out, json, n);
    strbuf_add(&out, "}}", 2);
    a->doc_text = request_own_text(r, strbuf_take(&out));
}

int check_location_given(struct request *r, const struct accepted *a, const char *where,
                         const char *location, struct err *e)
{
    const char *given = json_text_at(a->doc, "location");
    if (!given || !location || same_region(&r->arena, given, location))
        return 0;
    return err_set(e, ERR_INVALID_PROPERTY, "location",
                   "location is '%.100s', but it must be the location of its %s, '%.100s'", given,
                   where, location);
}

void accepted_place(struct request *r, struct accepted *a, const char *location)
{
    if (!json_object_get(a->doc, "location"))
        json_object_set_new(a->doc, "location", json_string(location));
    accepted_write(r, a);
}

/* Appends the paths of given secrets that differ from the stored secrets. Returns their number. */
static int changed_secrets(const char *stored, const json_t *given, struct strbuf *list)
{
    json_auto_t *old = stored ? json_loads(stored, 0, NULL) : NULL;
    int n = 0;
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)given, path, value) {
        if (json_equal(json_object_get(old, path), value))
            continue;
        strbuf_printf(list, "%s%s", list->len ? ", " : "", path);
        n++;
    }
    return n;
}

/* Appends "location" if the regions differ; another spelling of the same region is no change. */
static int changed_place(struct request *r, const json_t *before, const json_t *given,
                         struct strbuf *list)
{
    const char *was = json_text_at(before, "location"), *is = json_text_at(given, "location");
    if (!was || !is || same_region(&r->arena, was, is))
        return 0;
    strbuf_printf(list, "%slocation", list->len ? ", " : "");
    return 1;
}

int check_immutable(struct rm *m, const char *stored_doc, const char *stored_secrets, struct err *e)
{
    struct request *r = m->r;
    const struct accepted *a = &m->given;
    char paths[512] = "";
    const json_t *before = request_own(r, json_loads(stored_doc, 0, NULL));
    int n =
        schema_immutable_changes(m->kind->schema, r->version, before, a->doc, paths, sizeof paths);
    struct strbuf list = STRBUF_INIT;
    strbuf_puts(&list, paths);
    n += changed_place(r, before, a->doc, &list);
    n += changed_secrets(stored_secrets, a->secrets, &list);
    int rc = 0;
    if (n > 0) {
        char first[128];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(list.s, ","), list.s);
        rc = err_set(e, BATCHAI_IMMUTABLE_PROPERTY, first,
                     "The %s %.100s exists and these properties cannot be changed: %s. Delete it "
                     "first, or send the values it was created with.",
                     m->kind->what, rm_row_of(m).name, list.s);
    }
    strbuf_free(&list);
    return rc;
}

const int batchai_missing[] = {ERR_GROUP_NOT_FOUND,     ERR_RESOURCE_NOT_FOUND,
                               ERR_WORKSPACE_NOT_FOUND, ERR_EXPERIMENT_NOT_FOUND,
                               ERR_CLUSTER_NOT_FOUND,   ERR_FILE_SERVER_NOT_FOUND,
                               ERR_JOB_NOT_FOUND,       0};

int batchai_step_name(struct rm *m, struct err *e)
{
    return check_name(m->r, m->kind->what, m->name, e);
}

struct replied *batchai_remove(struct rm *m)
{
    struct err e;
    const struct rm_row row = rm_row_of(m);
    const char *guid;
    const struct op_request op = {.kind = m->kind->kind,
                                  .resource_id = row.id,
                                  .scope = row.scope,
                                  .name = row.name,
                                  .in_group = request_is_flat(m->r),
                                  .is_delete = true};
    if (operation_delete(m->r, &op, &guid, &e) < 0)
        return reply_err(m->r, &e);
    return reply_accepted(m->r, row.scope, guid);
}

void batchai_headers(struct rm *m)
{
    reply_etag(m->r, rm_row_of(m).updated_us);
}

const char *json_text_at(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

struct replied *batchai_list_by_workspace(struct request *r)
{
    struct err e;
    struct workspace w;
    struct rm m = rm_begin(r);
    if (find_workspace(r, &w, &e) < 0)
        return reply_err(r, &e);
    const struct rm_query below = {
        .above = w.id, .filter = {.subscription = arm_subscription(r), .workspace_id = w.id}};
    return rm_list_below(&m, &below);
}
