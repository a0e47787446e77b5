/* SPDX-License-Identifier: MIT */
#include "api/batchai/common.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/batchai/errors.h"
#include "api/batchai/lookup.h"
#include "lib/jsontext.h"
#include "model/home.h"
#include "storage/storage.h"

int accept_body(struct request *r, const struct schema *s, struct accepted *a, struct err *e)
{
    memset(a, 0, sizeof *a);
    if (schema_accept(s, r->version, r->body, &a->doc, &a->secrets, e) < 0)
        return -1;
    a->secrets_text = a->secrets ? jsontext(a->secrets) : NULL;
    return 0;
}

void accepted_write(struct accepted *a)
{
    assert(!a->doc_text);
    a->doc_text = jsontext(a->doc);
}

void accepted_add(struct accepted *a, const char *name, const char *json, size_t n)
{
    struct strbuf out = STRBUF_INIT;
    size_t len = strlen(a->doc_text);
    assert(json_object_size(a->doc) == 1 && len > 3 && a->doc_text[len - 3] != '{');
    strbuf_add(&out, a->doc_text, len - 2);
    strbuf_printf(&out, ",\"%s\":", name);
    strbuf_add(&out, json, n);
    strbuf_add(&out, "}}", 2);
    free(a->doc_text);
    a->doc_text = strbuf_take(&out);
}

void accepted_place(struct accepted *a, const char *location)
{
    if (!json_object_get(a->doc, "location"))
        json_object_set_new(a->doc, "location", json_string(location));
    accepted_write(a);
}

void accepted_release(struct accepted *a)
{
    if (a->secrets_text)
        sodium_memzero(a->secrets_text, strlen(a->secrets_text));
    free(a->secrets_text);
    free(a->doc_text);
    json_decref(a->doc);
    json_decref(a->secrets);
}

/* Appends the paths of given secrets that differ from the stored ones. */
static int changed_secrets(const char *stored, const json_t *given, struct strbuf *list)
{
    json_t *old = stored ? json_loads(stored, 0, NULL) : NULL;
    int n = 0;
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)given, path, value) {
        if (json_equal(json_object_get(old, path), value))
            continue;
        strbuf_printf(list, "%s%s", list->len ? ", " : "", path);
        n++;
    }
    json_decref(old);
    return n;
}

/* Appends "location" if it is another region, not just another spelling. */
static int changed_place(struct request *r, const json_t *before, const json_t *given,
                         struct strbuf *list)
{
    const char *was = json_text_at(before, "location"), *is = json_text_at(given, "location");
    if (!was || !is || same_region(&r->arena, was, is))
        return 0;
    strbuf_printf(list, "%slocation", list->len ? ", " : "");
    return 1;
}

int check_immutable(struct request *r, const struct schema *s, const char *what, const char *name,
                    const char *stored_doc, const char *stored_secrets, const struct accepted *a,
                    struct err *e)
{
    char paths[512] = "";
    json_t *before = json_loads(stored_doc, 0, NULL);
    int n = schema_immutable_changes(s, r->version, before, a->doc, paths, sizeof paths);
    struct strbuf list = STRBUF_INIT;
    strbuf_puts(&list, paths);
    n += changed_place(r, before, a->doc, &list);
    n += changed_secrets(stored_secrets, a->secrets, &list);
    json_decref(before);
    int rc = 0;
    if (n > 0) {
        char first[128];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(list.s, ","), list.s);
        rc = err_set(e, BATCHAI_IMMUTABLE_PROPERTY, first,
                     "The %s %.100s exists and these properties cannot be changed: %s. Delete it "
                     "first, or send the values it was created with.",
                     what, name, list.s);
    }
    strbuf_free(&list);
    return rc;
}

struct replied *delete_resource(struct request *r, enum resource_kind kind, int64_t id,
                                const struct scope *scope, const char *name)
{
    struct err e;
    const char *guid;
    struct op_request op = {.kind = kind,
                            .resource_id = id,
                            .scope = scope,
                            .name = name,
                            .in_group = request_is_flat(r),
                            .is_delete = true};
    if (operation_delete(r, &op, &guid, &e) < 0)
        return reply_err(r, &e);
    return reply_accepted(r, scope, guid);
}

struct replied *delete_missing(struct request *r, const struct err *e)
{
    switch (e->code) {
    case ERR_GROUP_NOT_FOUND:
    case ERR_RESOURCE_NOT_FOUND:
    case ERR_WORKSPACE_NOT_FOUND:
    case ERR_EXPERIMENT_NOT_FOUND:
    case ERR_CLUSTER_NOT_FOUND:
    case ERR_FILE_SERVER_NOT_FOUND:
    case ERR_JOB_NOT_FOUND:
        return reply_empty(r, 204);
    default: /* the default belongs here, because this switch is over errors, not states */
        return reply_err(r, e);
    }
}

const char *json_text_at(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

int filter_subscription(struct request *r, struct st_filter *f, struct err *e)
{
    *f = (struct st_filter){.subscription = arm_subscription(r),
                            .workspace = request_is_flat(r) ? HOME_WORKSPACE : NULL};
    return find_subscription(r, e);
}

int filter_group(struct request *r, struct st_filter *f, struct err *e)
{
    struct resource_group g;
    if (request_is_flat(r))
        return filter_workspace(r, f, e);
    if (find_group(r, &g, e) < 0)
        return -1;
    *f = (struct st_filter){.subscription = arm_subscription(r), .group_id = g.id};
    return 0;
}

int filter_workspace(struct request *r, struct st_filter *f, struct err *e)
{
    struct workspace w;
    int rc = seek_workspace(r, &w, e);
    *f = (struct st_filter){.subscription = arm_subscription(r),
                            .workspace_id = rc > 0 ? w.id : NO_ROW};
    return rc < 0 ? -1 : 0;
}
