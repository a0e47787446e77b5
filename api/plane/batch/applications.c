/* SPDX-License-Identifier: MIT
 *
 * Lists and shows the applications of an account with their usable versions, and checks the
 * references to packages in pools, jobs and tasks.
 */
#include "api/plane/batch/batch.h"
#include "api/plane/batch/errors.h"
#include "api/plane/batch/list.h"
#include "api/plane/batch/reply.h"
#include "api/plane/batch/routes.h"
#include "lib/jsontext.h"
#include "model/batch/spec.h"
#include "scheduler/front/batch/packages.h"
#include "storage/storage.h"

#define VERSIONS_MAX 1000 /* most versions that are shown of one application */

/* Renders {"id", "displayName", "versions"}. 0: the application has no usable version; -1: *e is
 * set. */
static int render(struct request *r, const struct batch_application *x, struct strbuf *out,
                  struct err *e)
{
    struct batch_package_rows rows;
    if (st_batch_package_list(arm_of(r)->storage, &r->arena, x->id,
                              &(struct st_page){.limit = VERSIONS_MAX}, &rows, e) < 0)
        return -1;
    json_t *versions = json_array();
    for (size_t i = 0; i < rows.n; i++)
        if (rows.items[i].hash)
            json_array_append_new(versions, json_string(rows.items[i].name));
    json_auto_t *row = json_pack("{s:s, s:o*, s:o}", "id", x->name, "displayName",
                                 jsontext_optional(x->display_name), "versions", versions);
    jsontext_add(out, row);
    return json_array_size(versions) > 0;
}

static int fetch(const struct batch_list *l, const struct batch_slice *of, void **rows, size_t *n,
                 struct err *e)
{
    struct batch_application_rows found = {NULL, 0};
    int rc = st_batch_application_list_usable(
        arm_of(l->r)->storage, &l->r->arena, l->owner,
        &(struct st_names){.after = of->after, .limit = of->limit}, &found, e);
    *rows = found.items;
    *n = found.n;
    return rc;
}

static int render_row(const struct batch_list *l, const void *row, struct strbuf *out,
                      struct err *e)
{
    return render(l->r, row, out, e) < 0 ? -1 : 0;
}

struct replied *applications_list(struct request *r)
{
    static const struct batch_rows rows = {
        .list = {.fragment = "listapplicationsummariesresponses"},
        BATCH_ROWS_OF(struct batch_application),
        .fetch = fetch,
        .render = render_row};
    return batch_reply_rows(r, &rows, batch_account_of(r)->id, NULL);
}

struct replied *applications_get(struct request *r)
{
    struct err e;
    struct batch_application x;
    struct strbuf out = STRBUF_INIT;
    const char *name = request_param(r, "application");
    int rc = st_batch_application_get(arm_of(r)->storage, &r->arena, batch_account_of(r)->id, name,
                                      &x, &e);
    if (rc > 0)
        rc = render(r, &x, &out, &e);
    if (rc == 0)
        err_set(&e, BATCH_APPLICATION_NOT_FOUND, NULL, "%s", "");
    if (rc <= 0) {
        strbuf_free(&out);
        return reply_err(r, &e);
    }
    return batch_reply_element(r, "getapplicationsummaryresponse/@Element", &out);
}

/* --- references to packages ------------------------------------------------------------------- */

int package_refs_missing(struct storage *st, struct arena *a, int64_t account_id,
                         const json_t *list, const char **application, const char **text,
                         struct err *e)
{
    struct batch_package_use use;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(one, "applicationId"));
        const char *version = json_string_value(json_object_get(one, "version"));
        int rc = batch_package_find(st, a, account_id, name, version, &use, e);
        if (rc < 0)
            return -1;
        if (rc > 0)
            continue;
        *application = arena_strdup(a, name);
        *text = version && *version ? arena_concat(a, name, " ", version)
                                    : arena_concat(a, name, " (its default version)");
        return 1;
    }
    return 0;
}

int batch_check_packages(struct request *r, const json_t *list, struct err *e)
{
    const char *application, *text;
    int rc = package_refs_missing(arm_of(r)->storage, &r->arena, batch_account_of(r)->id, list,
                                  &application, &text, e);
    if (rc <= 0)
        return rc;
    batch_value(r, application, "The specified application package does not exist.");
    return err_set(e, BATCH_INVALID_APPLICATION_PACKAGE_REFERENCES, NULL,
                   "There is no active application package %s.", text);
}

int batch_check_job_packages(struct request *r, const json_t *job, struct err *e)
{
    static const char *const places[] = {
        "jobManagerTask.applicationPackageReferences",
        "poolInfo.autoPoolSpecification.pool.applicationPackageReferences"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (batch_check_packages(r, batch_part(job, places[i]), e) < 0)
            return -1;
    return 0;
}
