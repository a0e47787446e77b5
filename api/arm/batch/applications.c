/* SPDX-License-Identifier: MIT
 *
 * Applications of Batch accounts.
 */
#include <string.h>

#include "api/arm/batch/application.h"
#include "api/arm/batch/batchrm.h"
#include "api/arm/batch/child.h"
#include "api/arm/batch/errors.h"
#include "api/arm/batch/routes.h"
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/http/accept.h"
#include "api/http/page.h"
#include "model/batch/rm.h"
#include "storage/storage.h"

/* --- showing one ------------------------------------------------------------------------------ */

static json_t *properties(const struct batch_application *x)
{
    return json_pack("{s:s*, s:b, s:s*}", "displayName", x->display_name, "allowUpdates",
                     x->allow_updates, "defaultVersion", x->default_version);
}

static int flat_packages(struct request *r, const struct application *x, json_t **out,
                         struct err *e)
{
    struct batch_package *rows;
    size_t n;
    if (st_batch_package_list(arm_of(r)->storage, &r->arena, x->row.id, 0, PACKAGES_MAX, &rows, &n,
                              e) < 0)
        return -1;
    *out = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *one = package_facts(r, &rows[i]);
        json_object_set_new(one, "id", json_string(x->row.name));
        json_object_set_new(one, "version", json_string(rows[i].name));
        json_array_append_new(*out, one);
    }
    return 0;
}

static int render(struct request *r, const struct application *x, struct strbuf *out, struct err *e)
{
    json_auto_t *over = NULL;
    json_t *packages;
    if (is_flat(r)) {
        if (flat_packages(r, x, &packages, e) < 0)
            return -1;
        over = properties(&x->row);
        json_object_set_new(over, "id", json_string(x->row.name));
        json_object_set_new(over, "packages", packages);
    } else {
        over = application_envelope(r, x, NULL, x->row.updated_us);
        json_object_set_new(over, "properties", properties(&x->row));
        json_object_set_new(over, "tags", x->row.tags ? json_loads(x->row.tags, 0, NULL) : NULL);
    }
    schema_render_tree(out, is_flat(r) ? &schema_rm_application_flat : &schema_rm_application,
                       r->version, over);
    return 0;
}

static struct replied *show(struct request *r, int status, const struct application *x)
{
    struct err e;
    struct strbuf out = STRBUF_INIT;
    if (render(r, x, &out, &e) < 0)
        return reply_err(r, &e);
    if (!is_flat(r))
        reply_header_text(r, "ETag", weak_etag(r, x->row.updated_us));
    return reply_json_text(r, status, &out);
}

struct replied *batch_applications_get(struct request *r)
{
    struct err e;
    struct application x;
    return find_application(r, &x, &e) < 0 ? reply_err(r, &e) : show(r, 200, &x);
}

struct replied *batch_applications_list(struct request *r)
{
    struct err e;
    struct page *page;
    struct application x;
    struct batch_application *rows;
    struct strbuf *out;
    size_t n;
    if (find_made_batch_account(r, &x.account, &e) < 0 || !(page = page_of_ids(r, &e)) ||
        st_batch_application_list(arm_of(r)->storage, &r->arena, x.account.id, page_after_id(page),
                                  page_limit(page), &rows, &n, &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < n && (out = page_row_of_id(page, rows[i].id)) != NULL; i++) {
        x.row = rows[i];
        if (render(r, &x, out, &e) < 0)
            return reply_err(r, &e);
    }
    return page_reply(page);
}

/* --- create and change ------------------------------------------------------------------------ */

/* The default version must be one that nodes can get. */
static int take_default(struct request *r, struct batch_application *x, const char *version,
                        struct err *e)
{
    struct batch_package p;
    if (!version)
        return 0;
    if (!*version) {
        x->default_version = NULL;
        return 0;
    }
    int rc = x->id ? st_batch_package_get(arm_of(r)->storage, &r->arena, x->id, version, &p, e) : 0;
    if (rc < 0)
        return -1;
    if (rc == 0 || !p.hash)
        return err_set(e, BATCHRM_NOT_ACTIVE, NULL,
                       "The application %s has no active package of the version '%.100s', so that "
                       "cannot be its default version.",
                       x->name, version);
    x->default_version = p.name;
    return 0;
}

/* What a body says takes the place of what was there. */
static int take(struct request *r, struct batch_application *x, bool partial, struct err *e)
{
    struct accepted given;
    const char *display = NULL, *version = NULL;
    if (request_accept(r, is_flat(r) ? &schema_rm_application_flat : &schema_rm_application,
                       partial ? SCHEMA_PARTIAL : 0, &given, e) < 0)
        return -1;
    const json_t *p = is_flat(r) ? given.doc : json_object_get(given.doc, "properties");
    const json_t *updates = json_object_get(p, "allowUpdates");
    display = json_string_value(json_object_get(p, "displayName"));
    version = json_string_value(json_object_get(p, "defaultVersion"));
    if (display || !partial)
        x->display_name = display;
    if (updates || !partial)
        x->allow_updates = !json_is_false(updates);
    const char *tags = child_tags(r, given.doc);
    if (tags || !partial)
        x->tags = tags;
    x->updated_us = r->now_us;
    return take_default(r, x, version, e);
}

static int insert(struct request *r, struct application *x, struct err *e)
{
    struct batch_application *rows;
    size_t n;
    if (st_batch_application_list(arm_of(r)->storage, &r->arena, x->account.id, 0, APPLICATIONS_MAX,
                                  &rows, &n, e) < 0)
        return -1;
    if (n >= APPLICATIONS_MAX)
        return err_set(e, BATCHRM_TOO_MANY, NULL,
                       "The Batch account %s has %zu applications; it may have %d.",
                       x->account.name, n, APPLICATIONS_MAX);
    x->row = (struct batch_application){.account_id = x->account.id,
                                        .name = request_param(r, "application"),
                                        .created_us = r->now_us};
    if (take(r, &x->row, false, e) < 0)
        return -1;
    return st_batch_application_insert(arm_of(r)->storage, &x->row, &x->row.id, e);
}

struct replied *batch_applications_create(struct request *r)
{
    struct err e;
    struct application x;
    const char *name = request_param(r, "application");
    if (find_made_batch_account(r, &x.account, &e) < 0 ||
        check_application_name(name, false, &e) < 0)
        return reply_err(r, &e);
    int rc =
        st_batch_application_get(arm_of(r)->storage, &r->arena, x.account.id, name, &x.row, &e);
    if (rc == 0)
        rc = insert(r, &x, &e);
    else if (rc > 0)
        rc = take(r, &x.row, true, &e) < 0
                 ? -1
                 : st_batch_application_update(arm_of(r)->storage, &x.row, &e);
    return rc < 0 ? reply_err(r, &e) : show(r, is_flat(r) ? 201 : 200, &x);
}

struct replied *batch_applications_update(struct request *r)
{
    struct err e;
    struct application x;
    if (find_application(r, &x, &e) < 0 || take(r, &x.row, true, &e) < 0 ||
        st_batch_application_update(arm_of(r)->storage, &x.row, &e) < 0)
        return reply_err(r, &e);
    return is_flat(r) ? reply_empty(r, 204) : show(r, 200, &x);
}

struct replied *batch_applications_delete(struct request *r)
{
    struct err e;
    struct application x;
    struct batch_package *rows;
    size_t n;
    if (find_application(r, &x, &e) < 0)
        return e.code == BATCHRM_APPLICATION_NOT_FOUND ? reply_empty(r, 204) : reply_err(r, &e);
    int rc = st_batch_package_list(arm_of(r)->storage, &r->arena, x.row.id, 0, 1, &rows, &n, &e);
    if (rc == 0 && n > 0)
        rc = err_set(&e, BATCHRM_PACKAGES_NOT_EMPTY, NULL,
                     "The application %s has packages; delete them first.", x.row.name);
    if (rc < 0 || st_batch_application_remove(arm_of(r)->storage, x.row.id, &e) < 0)
        return reply_err(r, &e);
    return reply_empty(r, is_flat(r) ? 204 : 200);
}
