/* SPDX-License-Identifier: MIT
 *
 * Applications of Batch accounts: list, show, create, update, delete. The packages of an
 * application are in packages.c. The request owns all memory. Called only on the loop's thread.
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
    struct batch_package_rows rows;
    if (st_batch_package_list(arm_of(r)->storage, &r->arena, x->row.id,
                              &(struct st_page){.limit = PACKAGES_MAX}, &rows, e) < 0)
        return -1;
    *out = json_array();
    for (size_t i = 0; i < rows.n; i++) {
        json_t *one = package_facts(r, &rows.items[i]);
        json_object_set_new(one, "id", json_string(x->row.name));
        json_object_set_new(one, "version", json_string(rows.items[i].name));
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

/* The flat api-versions (is_flat()) reply to a PUT with 201, and to a PATCH with an empty body. */
static struct replied *show(struct rm *m, int status)
{
    struct err e;
    struct request *r = m->r;
    const struct application *x = m->row;
    struct strbuf out = STRBUF_INIT;
    if (is_flat(r) && strcmp(r->method, "PATCH") == 0)
        return reply_empty(r, 204);
    if (render(r, x, &out, &e) < 0)
        return reply_err(r, &e);
    if (!is_flat(r))
        reply_header_text(r, "ETag", weak_etag(r, x->row.updated_us));
    return reply_json_text(r, is_flat(r) && strcmp(r->method, "PUT") == 0 ? 201 : status, &out);
}

static int find(struct rm *m, struct err *e)
{
    return find_application(m->r, m->row, e);
}

struct replied *batch_applications_list(struct request *r)
{
    struct err e;
    struct page *page;
    struct application x;
    struct batch_application_rows rows;
    struct strbuf *out;
    if (find_made_batch_account(r, &x.account, &e) < 0 || !(page = page_of_ids(r, &e)) ||
        st_batch_application_list(
            arm_of(r)->storage, &r->arena, x.account.id,
            &(struct st_page){.after = page_after_id(page), .limit = page_limit(page)}, &rows,
            &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < rows.n && (out = page_row_of_id(page, rows.items[i].id)) != NULL; i++) {
        x.row = rows.items[i];
        if (render(r, &x, out, &e) < 0)
            return reply_err(r, &e);
    }
    return page_reply(page);
}

/* --- create and change ------------------------------------------------------------------------ */

/* Sets the default version, which must be an active package. */
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

/* The body's members replace the old values. */
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

static int insert(struct rm *m, struct err *e)
{
    struct request *r = m->r;
    struct application *x = m->row;
    struct batch_application_rows rows;
    if (st_batch_application_list(arm_of(r)->storage, &r->arena, x->account.id,
                                  &(struct st_page){.limit = APPLICATIONS_MAX}, &rows, e) < 0)
        return -1;
    if (rows.n >= APPLICATIONS_MAX)
        return err_set(e, BATCHRM_TOO_MANY, NULL,
                       "The Batch account %s has %zu applications; it may have %d.",
                       x->account.name, rows.n, APPLICATIONS_MAX);
    x->row = (struct batch_application){
        .account_id = x->account.id, .name = m->name, .created_us = r->now_us};
    if (take(r, &x->row, false, e) < 0)
        return -1;
    return st_batch_application_insert(arm_of(r)->storage, &x->row, &x->row.id, e);
}

static int step_account(struct rm *m, struct err *e)
{
    struct application *x = m->row;
    return find_made_batch_account(m->r, &x->account, e);
}

static int step_name(struct rm *m, struct err *e)
{
    return check_application_name(m->name, false, e);
}

static int seek(struct rm *m, struct err *e)
{
    struct application *x = m->row;
    return st_batch_application_get(arm_of(m->r)->storage, &m->r->arena, x->account.id, m->name,
                                    &x->row, e);
}

static int change(struct rm *m, struct err *e)
{
    struct application *x = m->row;
    return take(m->r, &x->row, true, e) < 0
               ? -1
               : st_batch_application_update(arm_of(m->r)->storage, &x->row, e);
}

static struct replied *remove_application(struct rm *m)
{
    struct err e;
    struct request *r = m->r;
    const struct application *x = m->row;
    struct batch_package_rows rows;
    int rc = st_batch_package_list(arm_of(r)->storage, &r->arena, x->row.id,
                                   &(struct st_page){.limit = 1}, &rows, &e);
    if (rc == 0 && rows.n > 0)
        rc = err_set(&e, BATCHRM_PACKAGES_NOT_EMPTY, NULL,
                     "The application %s has packages; delete them first.", x->row.name);
    if (rc < 0 || st_batch_application_remove(arm_of(r)->storage, x->row.id, &e) < 0)
        return reply_err(r, &e);
    return reply_empty(r, is_flat(r) ? 204 : 200);
}

static rm_step *const steps[] = {step_account, step_name, NULL};
static const int missing[] = {BATCHRM_APPLICATION_NOT_FOUND, 0};

const struct rm_kind batch_application_kind = {
    .what = "application",
    .param = "application",
    .columns = {.size = sizeof(struct application),
                .id = offsetof(struct application, row.id),
                .name = offsetof(struct application, row.name),
                .updated = offsetof(struct application, row.updated_us)},
    .steps = steps,
    .seek = seek,
    .insert = insert,
    .change = change,
    .patch = change,
    .find = find,
    .missing = missing,
    .remove = remove_application,
    .show = show,
};
