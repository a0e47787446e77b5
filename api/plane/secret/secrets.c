/* SPDX-License-Identifier: MIT
 *
 * Secrets: their lookup by path, their rendering, and reading of bodies; get and lists.
 */
#include "api/plane/secret/secrets.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/page.h"
#include "api/plane/secret/secret_errors.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define NAME_MAX_LEN    127
#define TEXT_MAX        255 /* longest content type */
#define TAGS_MAX        15
#define TAG_MAX         256
#define PAGE_MAX        25
#define INSTANT_MAX     INT64_C(253402300799) /* the end of the year 9999 */
#define DAY_US          INT64_C(86400000000)
#define RETENTION_USUAL 90 /* default retention in days */
#define US_PER_S        1000000

/* --- which ----------------------------------------------------------------------------------- */

int check_secret_name(struct request *r, struct err *e)
{
    const char *name = request_param(r, "name");
    size_t n = strlen(name);
    bool ok = n >= 1 && n <= NAME_MAX_LEN;
    for (const char *p = name; ok && *p; p++)
        ok = isalnum((unsigned char)*p) || *p == '-';
    if (ok)
        return 0;
    return err_set(e, SECRET_BAD_PARAMETER, NULL,
                   "The request URI contains an invalid name: '%.140s'. A secret's name has 1 to "
                   "%d letters, digits and hyphens.",
                   name, NAME_MAX_LEN);
}

int find_version(struct request *r, const struct open_vault *v, const char *version, bool deleted,
                 struct secret_version *out, struct err *e)
{
    const char *name = request_param(r, "name");
    int rc = st_secret_version_get(arm_of(r)->storage, &r->arena, v->row.id, name, version, out, e);
    if (rc < 0 || (rc > 0 && (out->deleted_us > 0) == deleted))
        return rc < 0 ? -1 : 0;
    return err_set(e, SECRET_NOT_FOUND, NULL,
                   "A %ssecret with (name/id) %.140s%s%.60s was not found in this key vault.%s",
                   deleted ? "deleted " : "", name, version ? "/" : "", version ? version : "",
                   deleted ? ""
                           : " If you recently deleted this secret you may be able to recover it "
                             "using the correct recovery command.");
}

/* --- how it is shown -------------------------------------------------------------------------- */

static json_t *attributes(const struct open_vault *v, const struct secret_version *x)
{
    static const char *const levels[2][2] = {
        {"Recoverable+Purgeable", "CustomizedRecoverable+Purgeable"},
        {"Recoverable", "CustomizedRecoverable"}};
    json_int_t days = v->row.retention_us / DAY_US;
    json_t *a = json_pack("{s:b}", "enabled", x->enabled);
    if (x->not_before_s)
        json_object_set_new(a, "nbf", json_integer(x->not_before_s));
    if (x->expires_s)
        json_object_set_new(a, "exp", json_integer(x->expires_s));
    json_object_set_new(a, "created", json_integer(x->created_us / US_PER_S));
    json_object_set_new(a, "updated", json_integer(x->updated_us / US_PER_S));
    json_object_set_new(a, "recoveryLevel",
                        json_string(levels[v->purge_protected][days != RETENTION_USUAL]));
    json_object_set_new(a, "recoverableDays", json_integer(days));
    return a;
}

json_t *render_secret(struct request *r, const struct open_vault *v, const struct secret_version *x,
                      enum shown_as as, const char *value)
{
    bool deleted = as == SHOWN_DELETED || as == SHOWN_DELETED_ITEM;
    bool version = as != SHOWN_ITEM && as != SHOWN_DELETED_ITEM;
    json_t *o = json_object();
    if (value)
        json_object_set_new(o, "value", jsontext_string(value));
    if (x->content_type)
        json_object_set_new(o, "contentType", jsontext_string(x->content_type));
    json_object_set_new(o, "id",
                        json_sprintf("%s/secrets/%s%s%s", request_base(r), x->name,
                                     version ? "/" : "", version ? x->version : ""));
    json_object_set_new(o, "attributes", attributes(v, x));
    if (x->tags)
        json_object_set_new(o, "tags", json_loads(x->tags, 0, NULL));
    if (!deleted)
        return o;
    json_object_set_new(o, "recoveryId",
                        json_sprintf("%s/deletedsecrets/%s", request_base(r), x->name));
    json_object_set_new(o, "deletedDate", json_integer(x->deleted_us / US_PER_S));
    json_object_set_new(o, "scheduledPurgeDate", json_integer(x->purge_us / US_PER_S));
    return o;
}

/* --- a secret in a body ----------------------------------------------------------------------- */

static int bad(struct err *e, const char *name, const char *rule)
{
    return err_set(e, SECRET_BAD_PARAMETER, NULL, "The property '%s' is invalid: it must be %s.",
                   name, rule);
}

/* Whether the member exists and is not null; *out: its value. */
static bool given(const json_t *o, const char *name, const json_t **out)
{
    *out = json_object_get(o, name);
    return *out && !json_is_null(*out);
}

static int accept_instant(const json_t *attributes, const char *name, int64_t *out, struct err *e)
{
    const json_t *v;
    if (!given(attributes, name, &v))
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > INSTANT_MAX)
        return bad(e, name, "an instant in seconds since 1970, before the year 10000");
    *out = json_integer_value(v);
    return 0;
}

static int accept_times(const json_t *body, struct secret_version *x, struct err *e)
{
    const json_t *attributes, *enabled;
    if (!given(body, "attributes", &attributes))
        return 0;
    if (!json_is_object(attributes))
        return bad(e, "attributes", "an object");
    if (given(attributes, "enabled", &enabled)) {
        if (!json_is_boolean(enabled))
            return bad(e, "enabled", "true or false");
        x->enabled = json_is_true(enabled);
    }
    if (accept_instant(attributes, "nbf", &x->not_before_s, e) < 0 ||
        accept_instant(attributes, "exp", &x->expires_s, e) < 0)
        return -1;
    if (x->not_before_s && x->expires_s && x->not_before_s >= x->expires_s)
        return bad(e, "exp", "later than nbf");
    return 0;
}

static int check_tags(const json_t *tags, struct err *e)
{
    const char *key;
    json_t *value;
    if (!json_is_object(tags) || json_object_size(tags) > TAGS_MAX)
        return bad(e, "tags", "an object of at most 15 tags");
    json_object_foreach((json_t *)(uintptr_t)tags, key, value) {
        if (strlen(key) > TAG_MAX || !json_is_string(value) || json_string_length(value) > TAG_MAX)
            return bad(e, "tags", "an object of texts of at most 256 bytes");
    }
    return 0;
}

int accept_attributes(struct request *r, const json_t *body, struct secret_version *x,
                      struct err *e)
{
    const json_t *type, *tags;
    if (accept_times(body, x, e) < 0)
        return -1;
    if (given(body, "contentType", &type)) {
        if (!json_is_string(type) || json_string_length(type) > TEXT_MAX)
            return bad(e, "contentType", "a text of at most 255 bytes");
        x->content_type = arena_strdup(&r->arena, json_string_value(type));
    }
    if (given(body, "tags", &tags)) {
        if (check_tags(tags, e) < 0)
            return -1;
        x->tags = jsontext_in(&r->arena, tags);
    }
    return 0;
}

/* --- get and lists --------------------------------------------------------------------------- */

static const char *version_of(const struct request *r)
{
    return strstr(r->route->path, "{version}") ? request_param(r, "version") : NULL;
}

struct replied *secrets_get(struct request *r)
{
    struct err e;
    struct open_vault v;
    struct secret_version x;
    const char *value;
    if (open_vault(r, MAY_GET, &v, &e) < 0 || check_secret_name(r, &e) < 0 ||
        find_version(r, &v, version_of(r), false, &x, &e) < 0)
        return reply_err(r, &e);
    if (!x.enabled) {
        err_set(&e, SECRET_DISABLED, NULL, "Operation get is not allowed on a disabled secret.");
        return reply_err(r, &e);
    }
    if (st_secret_value(arm_of(r)->storage, &r->arena, x.id, &value, &e) < 0)
        return reply_err(r, &e);
    return reply_json(r, 200, render_secret(r, &v, &x, SHOWN_BUNDLE, value ? value : ""));
}

/* Replies "not found": no vault has contacts, because certificates are not served. Terraform's
 * azurerm requests the contacts of each vault, and fails on any other error. */
struct replied *certificate_contacts_get(struct request *r)
{
    struct err e;
    struct open_vault v;
    if (open_vault(r, MAY_LIST, &v, &e) == 0)
        err_set(&e, SECRET_NO_CONTACTS, NULL,
                "The vault has no certificate contacts: batchaid does not serve certificates.");
    return reply_err(r, &e);
}

struct replied *secrets_update(struct request *r)
{
    struct err e;
    struct open_vault v;
    struct secret_version x;
    if (open_vault(r, MAY_SET, &v, &e) < 0 || check_secret_name(r, &e) < 0 ||
        find_version(r, &v, version_of(r), false, &x, &e) < 0 ||
        accept_attributes(r, r->body, &x, &e) < 0)
        return reply_err(r, &e);
    x.updated_us = r->now_us;
    if (st_secret_version_update(arm_of(r)->storage, &x, &e) < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "secret.updated", LF_STR("vault", v.row.name),
             LF_STR("secret", x.name), LF_STR("by", r->who->name));
    return reply_json(r, 200, render_secret(r, &v, &x, SHOWN_BUNDLE, NULL));
}

/* Begins a page of at most 25 items, as in Azure. */
static struct page *begin_page(struct request *r, struct err *e)
{
    struct page *page = page_of_ids(r, e);
    bool ok =
        page && request_query_int(r, "maxresults", (struct query_bounds){1, PAGE_MAX, PAGE_MAX},
                                  &page->max, e) == 0;
    return ok ? page : NULL;
}

static struct replied *list(struct request *r, bool deleted)
{
    struct err e;
    struct open_vault v;
    struct page *page;
    struct secret_version_rows rows;
    if (open_vault(r, MAY_LIST, &v, &e) < 0 || !(page = begin_page(r, &e)) ||
        st_secret_list(arm_of(r)->storage, &r->arena, v.row.id, deleted,
                       &(struct st_page){.after = page_after_id(page), .limit = page_limit(page)},
                       &rows, &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < rows.n; i++)
        page_add_id(
            page, rows.items[i].secret_id,
            render_secret(r, &v, &rows.items[i], deleted ? SHOWN_DELETED_ITEM : SHOWN_ITEM, NULL));
    return page_reply(page);
}

struct replied *secrets_list(struct request *r)
{
    return list(r, false);
}

struct replied *deleted_secrets_list(struct request *r)
{
    return list(r, true);
}

/* Lists the versions of a secret, the newest first. A missing secret has an empty list. */
struct replied *secrets_versions(struct request *r)
{
    struct err e;
    struct open_vault v;
    struct page *page;
    struct secret_version_rows rows = {NULL, 0};
    struct secret_version newest;
    struct storage *st = arm_of(r)->storage;
    if (open_vault(r, MAY_LIST, &v, &e) < 0 || check_secret_name(r, &e) < 0 ||
        !(page = begin_page(r, &e)))
        return reply_err(r, &e);
    int rc =
        st_secret_version_get(st, &r->arena, v.row.id, request_param(r, "name"), NULL, &newest, &e);
    if (rc > 0 && newest.deleted_us == 0)
        rc = st_secret_version_list_down(
            st, &r->arena, newest.secret_id,
            &(struct st_page){.after = page_after_id(page), .limit = page_limit(page)}, &rows, &e);
    if (rc < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < rows.n; i++)
        page_add_id(page, rows.items[i].id,
                    render_secret(r, &v, &rows.items[i], SHOWN_VERSION, NULL));
    return page_reply(page);
}
