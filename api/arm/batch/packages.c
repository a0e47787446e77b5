/* SPDX-License-Identifier: MIT
 *
 * Packages of applications. A client uploads an archive by a URL in the reply, to a container of
 * the account's auto-storage, and then activates it (activate.c).
 */
#include <ctype.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>

#include "api/arm/batch/application.h"
#include "api/arm/batch/batchrm.h"
#include "api/arm/batch/child.h"
#include "api/arm/batch/errors.h"
#include "api/arm/batch/routes.h"
#include "api/arm/kind.h"
#include "api/arm/lookup.h"
#include "api/arm/may.h"
#include "api/http/accept.h"
#include "api/http/page.h"
#include "api/http/url.h"
#include "api/plane/storage/sas.h"
#include "model/batch/rm.h"
#include "storage/folders/change.h"
#include "storage/packages/packages.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

#define URL_LIFE_US     (INT64_C(4) * 3600 * 1000000) /* 4 hours, as in the real service */
#define URL_SAS_VERSION "2018-03-28"
#define NAME_PART       15 /* bytes of the application's name in the container's name */
#define HASH_BYTES      20

/* --- the place of a package --- */

/* "app-NAME-HASH": a valid container name, different for each application of each Batch account:
 * two accounts may have the same auto-storage. */
static const char *container_name(struct request *r, const struct application *x)
{
    char hash[2 * HASH_BYTES + 1], part[NAME_PART + 2];
    unsigned char digest[HASH_BYTES];
    const char *lower = arena_lower(&r->arena, x->row.name);
    const char *id = arena_concat(
        &r->arena, arena_lower(&r->arena, batch_account_id(r, &x->account)), "/", lower);
    size_t n = 0;
    crypto_generichash(digest, sizeof digest, (const unsigned char *)id, strlen(id), NULL, 0);
    sodium_bin2hex(hash, sizeof hash, digest, sizeof digest);
    for (; *lower && n < NAME_PART; lower++)
        if (isalnum((unsigned char)*lower))
            part[n++] = *lower;
        else if (n > 0 && part[n - 1] != '-')
            part[n++] = '-';
    if (n > 0 && part[n - 1] != '-')
        part[n++] = '-';
    part[n] = '\0';
    return arena_concat(&r->arena, "app-", part, hash);
}

int package_place(struct request *r, const struct application *x, const char *version,
                  struct package_place *out, struct err *e)
{
    json_auto_t *doc = batch_account_doc(&x->account);
    int rc = find_auto_storage(r, doc, &out->store, e);
    out->container = container_name(r, x);
    out->blob = version;
    return rc;
}

int package_container(struct request *r, const struct package_place *at, struct share *out,
                      struct err *e)
{
    int rc = st_share_by_name(arm_of(r)->storage, &r->arena, at->store.id, SHARE_BLOBS,
                              at->container, out, e);
    return rc > 0 && out->state != SHARE_THERE ? 0 : rc;
}

/* --- the URL for uploading or reading a package --- */

#define WRITE "Microsoft.Batch/batchAccounts/applications/versions/write"

bool package_is_final(const struct application *x, const struct batch_package *p)
{
    return p->hash && !x->row.allow_updates;
}

/* The permissions that the URL gives: at most the caller's own on the version. NULL: err. */
static const char *permissions_of(struct request *r, const struct application *x,
                                  const struct batch_package *p, struct err *e)
{
    const char *version = arena_concat(&r->arena, batch_account_id(r, &x->account),
                                       "/applications/", x->row.name, "/versions/", p->name);
    int writes = package_is_final(x, p) ? 0 : arm_may_also(r, WRITE, version, e);
    return writes < 0 ? NULL : writes ? "rw" : "r";
}

static int sign(struct request *r, const struct package_place *at, struct sas *sas, char *made,
                struct err *e)
{
    struct account_keys keys;
    struct strbuf text = STRBUF_INIT;
    int rc = st_account_keys(arm_of(r)->storage, at->store.id, &keys, e);
    if (rc <= 0)
        return rc < 0 ? -1
                      : err_set(e, BATCHRM_NO_STORAGE_ACCOUNT, NULL,
                                "The storage account %s is gone.", at->store.name);
    const char *path = arena_concat(&r->arena, "/", at->container, "/", at->blob);
    sas_text(sas, SAS_BLOB, at->store.name, path, &r->arena, &text);
    signature_make(keys.key[0], ACCOUNT_KEY_BYTES, text.s, text.len, made);
    st_account_forget_keys(&keys);
    strbuf_free(&text);
    return 0;
}

static bool has_no_keys(const struct package_place *at)
{
    return account_forbids(&at->store, "allowSharedKeyAccess");
}

int package_check_keys(const struct package_place *at, struct err *e)
{
    if (!has_no_keys(at))
        return 0;
    return err_set(e, BATCHRM_KEYS_OFF, NULL,
                   "The auto-storage account %s does not allow access with its keys "
                   "(allowSharedKeyAccess), which are needed to upload and read packages.",
                   at->store.name);
}

/* Adds storageUrl and storageUrlExpiry, if there is an auto-storage account that permits signatures
 * with its keys. */
static int add_url(struct request *r, const struct application *x, const struct batch_package *p,
                   json_t *facts, struct err *e)
{
    struct package_place at;
    int rc = package_place(r, x, p->name, &at, e);
    if (rc < 0)
        return e->code == BATCHRM_NO_STORAGE_ACCOUNT || e->code == BATCHRM_NO_AUTO_STORAGE ? 0 : -1;
    if (has_no_keys(&at))
        return 0;
    const char *permissions = permissions_of(r, x, p, e);
    char expiry[TIMEFMT_SIZE], made[SIGNATURE_SIZE];
    timefmt_seconds(r->now_us + URL_LIFE_US, expiry);
    struct sas sas = {.kind = SAS_OF_SERVICE};
    sas.field[SAS_VERSION] = URL_SAS_VERSION;
    sas.field[SAS_RESOURCE_KIND] = "b";
    sas.field[SAS_PERMISSIONS] = permissions;
    sas.field[SAS_EXPIRY] = expiry;
    if (!permissions || sign(r, &at, &sas, made, e) < 0)
        return -1;
    struct strbuf url = STRBUF_INIT;
    strbuf_printf(&url, "https://%s.blob.%s/%s/", at.store.name, request_suffix(r, "core."),
                  at.container);
    url_encode(&url, at.blob, 0);
    strbuf_puts(&url, "?sv=" URL_SAS_VERSION "&sr=b&sig=");
    url_encode(&url, made, 0);
    strbuf_puts(&url, "&se=");
    url_encode(&url, expiry, 0);
    strbuf_concat(&url, "&sp=", permissions);
    json_object_set_new(facts, "storageUrl", json_string(url.s));
    json_object_set_new(facts, "storageUrlExpiry", json_string(expiry));
    strbuf_free(&url);
    return 0;
}

/* --- showing one ------------------------------------------------------------------------------ */

static int render(struct request *r, const struct application *x, const struct batch_package *p,
                  struct strbuf *out, struct err *e)
{
    json_auto_t *facts = package_facts(r, p), *over = NULL;
    if (add_url(r, x, p, facts, e) < 0)
        return -1;
    if (is_flat(r)) {
        over = json_incref(facts);
        json_object_set_new(over, "id", json_string(x->row.name));
        json_object_set_new(over, "version", json_string(p->name));
    } else {
        over = application_envelope(r, x, p->name, p->updated_us);
        json_object_set(over, "properties", facts);
        json_object_set_new(over, "tags", p->tags ? json_loads(p->tags, 0, NULL) : NULL);
    }
    schema_render_tree(out, is_flat(r) ? &schema_rm_package_flat : &schema_rm_package, r->version,
                       over);
    return 0;
}

struct replied *package_show(struct request *r, int status, const struct application *x,
                             const struct batch_package *p)
{
    struct err e;
    struct strbuf out = STRBUF_INIT;
    if (render(r, x, p, &out, &e) < 0)
        return reply_err(r, &e);
    if (!is_flat(r))
        reply_header_text(r, "ETag", weak_etag(r, p->updated_us));
    return reply_json_text(r, status, &out);
}

struct replied *batch_packages_get(struct request *r)
{
    struct err e;
    struct application x;
    struct batch_package p;
    return find_package(r, &x, &p, &e) < 0 ? reply_err(r, &e) : package_show(r, 200, &x, &p);
}

struct replied *batch_packages_list(struct request *r)
{
    struct err e;
    struct page *page;
    struct application x;
    struct batch_package_rows rows;
    struct strbuf *out;
    if (find_application(r, &x, &e) < 0 || !(page = page_of_ids(r, &e)) ||
        st_batch_package_list(
            arm_of(r)->storage, &r->arena, x.row.id,
            &(struct st_page){.after = page_after_id(page), .limit = page_limit(page)}, &rows,
            &e) < 0)
        return reply_err(r, &e);
    for (size_t i = 0; i < rows.n && (out = page_row_of_id(page, rows.items[i].id)) != NULL; i++)
        if (render(r, &x, &rows.items[i], out, &e) < 0)
            return reply_err(r, &e);
    return page_reply(page);
}

/* --- create ----------------------------------------------------------------------------------- */

static int given_tags(struct request *r, const char **tags, struct err *e)
{
    struct accepted given;
    *tags = NULL;
    if (is_flat(r) || !r->body)
        return 0;
    if (request_accept(r, &schema_rm_package, SCHEMA_PARTIAL, &given, e) < 0)
        return -1;
    *tags = child_tags(r, given.doc);
    return 0;
}

int package_refuse_update(const struct application *x, struct err *e)
{
    return err_set(e, BATCHRM_NO_UPDATES, NULL,
                   "The application %s does not allow that its packages are uploaded again "
                   "(allowUpdates is false).",
                   x->row.name);
}

/* Stores the package as waiting for an upload. An existing package waits for an upload again; fails
 * if its application does not permit this. */
static int put_row(struct request *r, const struct application *x, struct batch_package *p,
                   struct err *e)
{
    struct storage *st = arm_of(r)->storage;
    const char *name = request_param(r, "version"), *tags;
    if (given_tags(r, &tags, e) < 0)
        return -1;
    int rc = st_batch_package_get(st, &r->arena, x->row.id, name, p, e);
    if (rc > 0 && !x->row.allow_updates)
        return package_refuse_update(x, e);
    if (rc < 0)
        return -1;
    if (rc == 0) {
        *p = (struct batch_package){.application_id = x->row.id,
                                    .name = name,
                                    .tags = tags,
                                    .created_us = r->now_us,
                                    .updated_us = r->now_us};
        return st_batch_package_insert(st, p, &p->id, e);
    }
    p->format = p->hash = NULL;
    p->size = p->activated_us = 0;
    p->tags = tags ? tags : p->tags;
    p->updated_us = r->now_us;
    return st_batch_package_update(st, p, e);
}

static struct replied *put(struct request *r)
{
    struct err e;
    struct application x;
    struct batch_package p;
    if (find_application(r, &x, &e) < 0 || put_row(r, &x, &p, &e) < 0)
        return reply_err(r, &e);
    packages_sweep(batchrm_of(r)->packages);
    return package_show(r, is_flat(r) ? 201 : 200, &x, &p);
}

/* ERR_CONFLICT is no failure: another request has created the container meanwhile. */
static void on_container(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    request_finish(r, why && why->code != ERR_CONFLICT ? reply_err(r, why) : put(r));
}

/* An existing version may be uploaded again, however many packages there are. */
static int check_count(struct request *r, const struct application *x, const char *version,
                       struct err *e)
{
    struct batch_package_rows rows;
    struct batch_package p;
    int rc = st_batch_package_get(arm_of(r)->storage, &r->arena, x->row.id, version, &p, e);
    if (rc != 0)
        return rc < 0 ? -1 : 0;
    if (st_batch_package_list(arm_of(r)->storage, &r->arena, x->row.id,
                              &(struct st_page){.limit = PACKAGES_MAX}, &rows, e) < 0)
        return -1;
    if (rows.n < PACKAGES_MAX)
        return 0;
    return err_set(e, BATCHRM_TOO_MANY, NULL,
                   "The application %s has %zu packages; it may have %d.", x->row.name, rows.n,
                   PACKAGES_MAX);
}

struct replied *batch_packages_create(struct request *r)
{
    struct err e;
    struct application x;
    struct share s;
    struct package_place at;
    const char *version = request_param(r, "version");
    if (find_application(r, &x, &e) < 0 || check_application_name(version, true, &e) < 0 ||
        check_count(r, &x, version, &e) < 0 || package_place(r, &x, version, &at, &e) < 0 ||
        package_check_keys(&at, &e) < 0)
        return reply_err(r, &e);
    int rc = package_container(r, &at, &s, &e);
    if (rc != 0)
        return rc < 0 ? reply_err(r, &e) : put(r);
    const struct share fresh = {.account_id = at.store.id,
                                .account = at.store.name,
                                .name = at.container,
                                .kind = SHARE_BLOBS,
                                .public_access = PUBLIC_NONE};
    if (shares_make(arm_of(r)->shares, &fresh, r->now_us, on_container, r, &e) < 0)
        return reply_err(r, &e);
    return reply_later(r);
}

/* --- delete ----------------------------------------------------------------------------------- */

static int forget_row(struct storage *st, void *ctx, struct err *e)
{
    struct request *r = ctx;
    struct application x;
    struct batch_package p;
    if (find_package(r, &x, &p, e) < 0 || st_batch_package_remove(st, p.id, e) < 0)
        return -1;
    if (!x.row.default_version || strcasecmp(x.row.default_version, p.name) != 0)
        return 0;
    x.row.default_version = NULL;
    x.row.updated_us = r->now_us;
    return st_batch_application_update(st, &x.row, e);
}

static struct replied *deleted(struct request *r)
{
    struct err e;
    if (st_tx(arm_of(r)->storage, "delete package", forget_row, r, &e) < 0)
        return reply_err(r, &e);
    packages_sweep(batchrm_of(r)->packages);
    return reply_empty(r, is_flat(r) ? 204 : 200);
}

/* Deletes the package's row, whether the archive in the container was removed, was missing or could
 * not be removed. In the last case the user has to remove the archive. */
static void on_blob_removed(void *ctx, const struct err *why, const struct file_result *result)
{
    struct request *r = ctx;
    struct err e;
    struct application x;
    struct batch_package p;
    struct package_place at;
    struct share s;
    (void)result;
    if (find_package(r, &x, &p, &e) < 0) {
        request_finish(r, deleted(r));
        return;
    }
    if (why && why->code != ERR_FILE_NOT_FOUND)
        LOG_WARN(r->config->log, "batch_package.blob_not_removed",
                 LF_STR("account", x.account.name), LF_STR("application", x.row.name),
                 LF_STR("version", p.name), LF_STR("why", why->msg));
    if (!why && package_place(r, &x, p.name, &at, &e) == 0 &&
        package_container(r, &at, &s, &e) > 0 &&
        st_item_remove(arm_of(r)->storage, s.id, at.blob, &e) < 0)
        LOG_WARN(r->config->log, "batch_package.row_of_blob_not_removed", LF_STR("why", e.msg));
    request_finish(r, deleted(r));
}

struct replied *batch_packages_delete(struct request *r)
{
    struct err e;
    struct application x;
    struct batch_package p;
    struct package_place at;
    struct share s;
    if (find_package(r, &x, &p, &e) < 0)
        return e.code == BATCHRM_PACKAGE_NOT_FOUND ? reply_empty(r, 204) : reply_err(r, &e);
    if (package_place(r, &x, p.name, &at, &e) < 0 || package_container(r, &at, &s, &e) <= 0)
        return deleted(r);
    const struct file_place file = {shares_folder(arm_of(r)->shares, &r->arena, &s), at.blob};
    files_remove_file(batchrm_of(r)->files, &file, on_blob_removed, r);
    return reply_later(r);
}
