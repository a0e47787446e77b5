/* SPDX-License-Identifier: MIT
 *
 * Shares and containers through the resource manager: made, changed, shown, deleted. They are the
 * data services' own.
 */
#include <ctype.h>
#include <string.h>

#include "api/arm/kind.h"
#include "api/arm/storage/errors.h"
#include "api/arm/storage/routes.h"
#include "api/arm/storage/share.h"
#include "api/arm/storage/storage_rm.h"
#include "api/http/accept.h"
#include "lib/jsontext.h"
#include "model/spec.h"
#include "storage/shares/shares.h"
#include "storage/storage.h"

#define QUOTA_USUAL 5120 /* GiB */
#define NAME_MIN    3

const struct share_words share_words = {SHARE_FILES, "share",          "fileServices",
                                        "shares",    &schema_share_rm, STORAGE_RM_SHARE_NOT_FOUND,
                                        false};
const struct share_words container_words = {
    SHARE_BLOBS,  "container",          "blobServices",
    "containers", &schema_container_rm, STORAGE_RM_CONTAINER_NOT_FOUND,
    true};

/* --- names ------------------------------------------------------------------------------------ */

static bool is_special(const char *name)
{
    return strcmp(name, "$root") == 0 || strcmp(name, "$web") == 0 || strcmp(name, "$logs") == 0;
}

static bool is_name(const char *name)
{
    size_t n = strlen(name);
    if (n < NAME_MIN || n > SHARE_NAME_MAX || *name == '-' || name[n - 1] == '-')
        return false;
    for (const char *p = name; *p; p++)
        if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) &&
            (*p != '-' || p[1] == '-'))
            return false;
    return true;
}

static int check_share_called(const struct share_words *w, const char *name, struct err *e)
{
    if (is_name(name) || (w->special && is_special(name)))
        return 0;
    return err_set(
        e, ERR_INVALID_NAME, NULL,
        "'%.100s' is not a valid name for a %s: it must have 3 to 63 lower-case letters, digits "
        "and hyphens, begin and end with a letter or digit, and not have two hyphens together.",
        name, w->noun);
}

int find_share(struct request *r, const struct share_words *w, struct storage_account *acct,
               struct share *s, struct err *e)
{
    const char *name = request_param(r, "share");
    if (find_made_account(r, acct, e) < 0)
        return -1;
    int rc = st_share_by_name(arm_of(r)->storage, &r->arena, acct->id, w->kind, name, s, e);
    if (rc < 0)
        return -1;
    if (rc > 0 && s->state == SHARE_THERE)
        return 0;
    return err_set(e, w->not_found, NULL, "The specified %s does not exist.", w->noun);
}

/* --- what is shown ---------------------------------------------------------------------------- */

enum lease_state share_lease(const struct share *s, int64_t now_us)
{
    bool ended = s->lease_until_us != 0 && s->lease_until_us <= now_us;
    if (s->lease_state == LEASE_LEASED && ended)
        return LEASE_EXPIRED;
    if (s->lease_state == LEASE_BREAKING && ended)
        return LEASE_BROKEN;
    return s->lease_state;
}

/* A state in the spelling of the resource manager. */
static json_t *capital(const char *name)
{
    char text[32];
    snprintf(text, sizeof text, "%s", name);
    text[0] = (char)toupper((unsigned char)text[0]);
    return json_string(text);
}

static void add_lease(const struct share *s, int64_t now_us, json_t *p)
{
    enum lease_state state = share_lease(s, now_us);
    bool locked = state == LEASE_LEASED || state == LEASE_BREAKING;
    json_object_set_new(p, "leaseStatus", json_string(locked ? "Locked" : "Unlocked"));
    json_object_set_new(p, "leaseState", capital(enum_to_name(lease_state_names, (int)state)));
    if (state == LEASE_LEASED)
        json_object_set_new(
            p, "leaseDuration",
            json_string(s->lease_duration_s == LEASE_INFINITE ? "Infinite" : "Fixed"));
}

static void add_kind(const struct share_words *w, const struct share *s, json_t *p)
{
    if (w->kind == SHARE_FILES) {
        json_object_set_new(p, "shareQuota", json_integer(s->quota));
        json_object_set_new(p, "enabledProtocols", json_string("SMB"));
        json_object_set_new(p, "accessTier",
                            json_string(s->access_tier ? s->access_tier : "TransactionOptimized"));
        return;
    }
    json_object_set_new(p, "publicAccess",
                        capital(enum_to_name(public_access_names, (int)s->public_access)));
    json_object_set_new(p, "hasImmutabilityPolicy", json_false());
    json_object_set_new(p, "hasLegalHold", json_false());
    json_object_set_new(p, "defaultEncryptionScope", json_string("$account-encryption-key"));
    json_object_set_new(p, "denyEncryptionScopeOverride", json_false());
}

json_t *share_render(struct request *r, const struct share_words *w,
                     const struct storage_account *acct, const struct share *s)
{
    char changed[TIMEFMT_SIZE], deleted[TIMEFMT_SIZE];
    timefmt_wire(s->updated_us, changed);
    json_t *p = json_pack("{s:s}", "lastModifiedTime", changed);
    json_t *metadata = s->metadata ? json_loads(s->metadata, 0, NULL) : NULL;
    if (metadata)
        json_object_set_new(p, "metadata", metadata);
    add_kind(w, s, p);
    add_lease(s, r->now_us, p);
    if (s->state == SHARE_DELETED) {
        timefmt_wire(s->deleted_us, deleted);
        json_object_set_new(p, "deleted", json_true());
        json_object_set_new(p, "deletedTime", json_string(deleted));
        json_object_set_new(p, "version", json_sprintf("%lld", (long long)s->id));
    }
    return json_pack(
        "{s:o, s:s, s:s, s:o, s:o}", "id",
        json_sprintf("%s/%s/default/%s/%s", account_id(r, acct), w->above, w->collection, s->name),
        "name", s->name, "type",
        arena_printf(&r->arena, "Microsoft.Storage/storageAccounts/%s/%s", w->above, w->collection),
        "etag", json_sprintf("\"0x%llX\"", (unsigned long long)s->etag), "properties", p);
}

/* --- make and change -------------------------------------------------------------------------- */

/* Puts what a body gives over what there is. Texts live as long as the request. */
static int take_properties(struct request *r, const struct share_words *w,
                           const struct storage_account *acct, const json_t *doc, struct share *s,
                           struct err *e)
{
    const json_t *p = json_object_get(doc, "properties"), *quota = json_object_get(p, "shareQuota");
    const json_t *metadata = json_object_get(p, "metadata");
    const char *tier = json_string_value(json_object_get(p, "accessTier"));
    const char *access = json_string_value(json_object_get(p, "publicAccess"));
    if (metadata)
        s->metadata = request_own_text(r, jsontext(metadata));
    if (quota)
        s->quota = (int)json_integer_value(quota);
    if (tier)
        s->access_tier = tier;
    if (!access)
        return 0;
    s->public_access = (enum public_access)enum_from_name(public_access_names, access);
    const json_t *of = request_own(r, account_properties(acct));
    bool refused = s->public_access != PUBLIC_NONE &&
                   json_is_false(json_object_get(of, "allowBlobPublicAccess"));
    if (!refused)
        return 0;
    return err_set(e, STORAGE_RM_NO_PUBLIC_ACCESS, NULL,
                   "Public access is not permitted on the storage account %s; the %s cannot have "
                   "it.",
                   acct->name, w->noun);
}

struct making {
    struct request *r;
    const struct share_words *w;
};

static struct replied *show(struct request *r, const struct share_words *w, int status)
{
    struct err e;
    struct storage_account acct;
    struct share s;
    if (find_share(r, w, &acct, &s, &e) < 0)
        return reply_err(r, &e);
    reply_header(r, "ETag", "\"0x%llX\"", (unsigned long long)s.etag);
    return reply_json(r, status, share_render(r, w, &acct, &s));
}

static void on_made(void *ctx, const struct err *why)
{
    const struct making *m = ctx;
    request_finish(m->r, why ? reply_err(m->r, why) : show(m->r, m->w, 201));
}

static struct replied *make(struct request *r, const struct share_words *w,
                            const struct storage_account *acct, const json_t *doc)
{
    struct err e;
    struct share s = {.account_id = acct->id,
                      .account = acct->name,
                      .name = request_param(r, "share"),
                      .kind = w->kind,
                      .quota = w->kind == SHARE_FILES ? QUOTA_USUAL : 0,
                      .public_access = PUBLIC_NONE};
    struct making *m = arena_alloc(&r->arena, sizeof *m);
    *m = (struct making){r, w};
    if (take_properties(r, w, acct, doc, &s, &e) < 0 ||
        shares_make(storage_rm_of(r)->shares, &s, r->now_us, on_made, m, &e) < 0)
        return reply_err(r, &e);
    return reply_later(r);
}

static struct replied *change(struct request *r, const struct share_words *w,
                              const struct storage_account *acct, struct share *s,
                              const json_t *doc)
{
    struct err e;
    int64_t was = s->etag;
    if (take_properties(r, w, acct, doc, s, &e) < 0)
        return reply_err(r, &e);
    s->etag = st_next_etag(was, r->now_us);
    s->updated_us = r->now_us;
    if (st_share_update(arm_of(r)->storage, s, was, &e) < 0)
        return reply_err(r, &e);
    return show(r, w, 200);
}

static struct replied *put(struct request *r, const struct share_words *w)
{
    struct err e;
    struct storage_account acct;
    struct share s;
    struct accepted given;
    if (find_made_account(r, &acct, &e) < 0 ||
        check_share_called(w, request_param(r, "share"), &e) < 0 ||
        request_accept(r, w->schema, 0, &given, &e) < 0)
        return reply_err(r, &e);
    int rc = st_share_by_name(arm_of(r)->storage, &r->arena, acct.id, w->kind,
                              request_param(r, "share"), &s, &e);
    if (rc < 0)
        return reply_err(r, &e);
    return rc > 0 && s.state == SHARE_THERE ? change(r, w, &acct, &s, given.doc)
                                            : make(r, w, &acct, given.doc);
}

static struct replied *update(struct request *r, const struct share_words *w)
{
    struct err e;
    struct storage_account acct;
    struct share s;
    struct accepted given;
    if (find_share(r, w, &acct, &s, &e) < 0 ||
        request_accept(r, w->schema, SCHEMA_PARTIAL, &given, &e) < 0)
        return reply_err(r, &e);
    return change(r, w, &acct, &s, given.doc);
}

/* --- delete ----------------------------------------------------------------------------------- */

static void on_deleted(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    request_finish(r, why ? reply_err(r, why) : reply_empty(r, 200));
}

static struct replied *delete_share(struct request *r, const struct share_words *w)
{
    struct err e;
    struct storage_account acct;
    struct share s;
    if (find_share(r, w, &acct, &s, &e) < 0)
        return (int)e.code == w->not_found ? reply_empty(r, 204) : reply_err(r, &e);
    enum lease_state lease = share_lease(&s, r->now_us);
    if (lease == LEASE_LEASED || lease == LEASE_BREAKING) {
        err_set(&e, STORAGE_RM_LEASED, NULL,
                "There is currently a lease on the %s; break or release it first.", w->noun);
        return reply_err(r, &e);
    }
    if (shares_delete(storage_rm_of(r)->shares, &s, r->now_us, on_deleted, r, &e) < 0)
        return reply_err(r, &e);
    return reply_later(r);
}

struct replied *shares_put(struct request *r)
{
    return put(r, &share_words);
}

struct replied *shares_update(struct request *r)
{
    return update(r, &share_words);
}

struct replied *shares_get(struct request *r)
{
    return show(r, &share_words, 200);
}

struct replied *shares_remove(struct request *r)
{
    return delete_share(r, &share_words);
}

struct replied *containers_put(struct request *r)
{
    return put(r, &container_words);
}

struct replied *containers_update(struct request *r)
{
    return update(r, &container_words);
}

struct replied *containers_get(struct request *r)
{
    return show(r, &container_words, 200);
}

struct replied *containers_remove(struct request *r)
{
    return delete_share(r, &container_words);
}
