/* SPDX-License-Identifier: MIT */
#include "api/plane/batch/applications.h"

#include "api/plane/batch/errors.h"
#include "api/plane/batch/list.h"
#include "api/plane/batch/reply.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define VERSIONS_MAX 1000 /* that are shown of an application */

/* {"id", "displayName", "versions"}; NULL with *e set. */
static json_t *render(struct request *r, const struct batch_application *x, struct err *e)
{
    struct batch_package *rows;
    size_t n;
    if (st_batch_package_list(batch_of(r)->arm.storage, &r->arena, x->id, 0, VERSIONS_MAX, &rows,
                              &n, e) < 0)
        return NULL;
    json_t *versions = json_array();
    for (size_t i = 0; i < n; i++)
        if (rows[i].hash)
            json_array_append_new(versions, json_string(rows[i].name));
    return json_pack("{s:s, s:o*, s:o}", "id", x->name, "displayName",
                     jsontext_optional(x->display_name), "versions", versions);
}

struct replied *applications_list(struct request *r)
{
    static const struct batch_list_kind kind = {.fragment = "listapplicationsummariesresponses"};
    struct err e;
    struct batch_list l;
    struct batch_application *rows;
    size_t n;
    if (batch_list_begin(r, &kind, &l, &e) < 0)
        return reply_err(r, &e);
    if (st_batch_application_list_usable(batch_of(r)->arm.storage, &r->arena,
                                         batch_account_of(r)->id, l.after, batch_list_limit(&l),
                                         &rows, &n, &e) < 0) {
        batch_list_drop(&l);
        return reply_err(r, &e);
    }
    for (size_t i = 0; i < n; i++) {
        json_t *row = render(r, &rows[i], &e);
        if (!row) {
            batch_list_drop(&l);
            return reply_err(r, &e);
        }
        batch_list_add(r, &l, rows[i].name, row);
    }
    return batch_list_reply(r, &l);
}

struct replied *applications_get(struct request *r)
{
    struct err e;
    struct batch_application x;
    struct strbuf out = STRBUF_INIT;
    const char *name = request_param(r, "application");
    int rc = st_batch_application_get(batch_of(r)->arm.storage, &r->arena, batch_account_of(r)->id,
                                      name, &x, &e);
    json_t *row = rc > 0 ? render(r, &x, &e) : NULL;
    if (rc == 0 || (row && json_array_size(json_object_get(row, "versions")) == 0)) {
        json_decref(row);
        row = NULL;
        err_set(&e, BATCH_APPLICATION_NOT_FOUND, NULL, "%s", "");
    }
    if (!row)
        return reply_err(r, &e);
    jsontext_add(&out, row);
    json_decref(row);
    return batch_reply_element(r, "getapplicationsummaryresponse/@Element", &out);
}
