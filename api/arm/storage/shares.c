/* SPDX-License-Identifier: MIT
 *
 * Shares and containers as kinds of resources (api/arm/kind.h). The data services use the same
 * rows.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "api/arm/kind.h"
#include "api/arm/storage/errors.h"
#include "api/arm/storage/routes.h"
#include "api/arm/storage/share.h"
#include "api/arm/storage/storage_rm.h"
#include "lib/jsontext.h"
#include "model/spec.h"
#include "storage/shares/lease_clock.h"
#include "storage/shares/usage.h"
#include "storage/storage.h"

#define QUOTA_USUAL 5120 /* GiB */
#define NAME_MIN    3

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

static int step_account(struct rm *m, struct err *e)
{
    struct rm_share *x = m->row;
    return find_made_account(m->r, &x->account, e);
}

static int step_name(struct rm *m, struct err *e)
{
    const struct share_words *w = m->kind->of;
    if (is_name(m->name) || (w->special && is_special(m->name)))
        return 0;
    return err_set(
        e, ERR_INVALID_NAME, NULL,
        "'%.100s' is not a valid name for a %s: it must have 3 to 63 lower-case letters, digits "
        "and hyphens, begin and end with a letter or digit, and not have two hyphens together.",
        m->name, w->noun);
}

/* Finds a share: 1, 0 (none) or -1. A share that is being created or deleted is not found. */
static int seek(struct rm *m, struct err *e)
{
    const struct share_words *w = m->kind->of;
    struct rm_share *x = m->row;
    int rc = st_share_by_name(arm_of(m->r)->storage, &m->r->arena, x->account.id, w->kind, m->name,
                              &x->row, e);
    return rc > 0 ? x->row.state == SHARE_THERE : rc;
}

static int find(struct rm *m, struct err *e)
{
    const struct share_words *w = m->kind->of;
    int rc = step_account(m, e) < 0 ? -1 : seek(m, e);
    if (rc == 0)
        return err_set(e, *m->kind->missing, NULL, "The specified %s does not exist.", w->noun);
    return rc < 0 ? -1 : 0;
}

/* --- rendering -------------------------------------------------------------------------------- */

static enum lease_state share_lease(struct request *r, const struct share *s)
{
    const struct lease l = lease_of_share(s);
    return lease_state_now(arm_of(r)->leases, &l);
}

/* A state in ARM's spelling: with a capital letter. */
static json_t *capital(const char *name)
{
    char text[32];
    snprintf(text, sizeof text, "%s", name);
    text[0] = (char)toupper((unsigned char)text[0]);
    return json_string(text);
}

static void add_lease(struct request *r, const struct share *s, json_t *p)
{
    enum lease_state state = share_lease(r, s);
    json_object_set_new(p, "leaseStatus",
                        json_string(lease_is_held(state) ? "Locked" : "Unlocked"));
    json_object_set_new(p, "leaseState", capital(enum_to_name(lease_state_names, (int)state)));
    if (state == LEASE_LEASED)
        json_object_set_new(
            p, "leaseDuration",
            json_string(s->lease_duration_s == LEASE_INFINITE ? "Infinite" : "Fixed"));
}

/* --- stored access policies ------------------------------------------------------------------- */

/* The names of a policy's members in ARM, and as api/plane/storage/policies.c stores them. */
static const struct {
    const char *shown, *stored;
} policy_parts[] = {
    {"startTime", "start"}, {"expiryTime", "expiry"}, {"permission", "permissions"}};
#define POLICY_PARTS (sizeof policy_parts / sizeof policy_parts[0])

static json_t *policies_shown(const char *acl)
{
    json_t *one, *list = json_array();
    size_t i;
    json_auto_t *stored = json_loads(acl, 0, NULL);
    json_array_foreach(stored, i, one) {
        json_t *policy = json_object();
        for (size_t k = 0; k < POLICY_PARTS; k++)
            json_object_set(policy, policy_parts[k].shown,
                            json_object_get(one, policy_parts[k].stored));
        json_array_append_new(list, json_pack("{s:O, s:o}", "id", json_object_get(one, "id"),
                                              "accessPolicy", policy));
    }
    return list;
}

static char *policies_text(const json_t *given)
{
    size_t i;
    const json_t *one;
    json_auto_t *list = json_array();
    json_array_foreach((json_t *)(uintptr_t)given, i, one) {
        const json_t *policy = json_object_get(one, "accessPolicy");
        json_t *stored = json_pack("{s:O}", "id", json_object_get(one, "id"));
        for (size_t k = 0; k < POLICY_PARTS; k++)
            json_object_set(stored, policy_parts[k].stored,
                            json_object_get(policy, policy_parts[k].shown));
        json_array_append_new(list, stored);
    }
    return jsontext(list);
}

/* --- properties ------------------------------------------------------------------------------- */

static void add_kind(const struct share_words *w, const struct share *s, json_t *p)
{
    if (w->kind == SHARE_FILES) {
        json_object_set_new(p, "shareQuota", json_integer(s->quota));
        json_object_set_new(p, "enabledProtocols", json_string("SMB"));
        json_object_set_new(p, "accessTier",
                            json_string(s->access_tier ? s->access_tier : "TransactionOptimized"));
        if (s->acl)
            json_object_set_new(p, "signedIdentifiers", policies_shown(s->acl));
        return;
    }
    json_object_set_new(p, "publicAccess",
                        capital(enum_to_name(public_access_names, (int)s->public_access)));
    json_object_set_new(p, "hasImmutabilityPolicy", json_false());
    json_object_set_new(p, "hasLegalHold", json_false());
    json_object_set_new(p, "defaultEncryptionScope", json_string("$account-encryption-key"));
    json_object_set_new(p, "denyEncryptionScopeOverride", json_false());
}

json_t *share_render(struct request *r, const struct share_words *w, const struct rm_share *x)
{
    const struct share *s = &x->row;
    char changed[TIMEFMT_SIZE], deleted[TIMEFMT_SIZE];
    timefmt_wire(s->updated_us, changed);
    json_t *p = json_pack("{s:s}", "lastModifiedTime", changed);
    json_t *metadata = s->metadata ? json_loads(s->metadata, 0, NULL) : NULL;
    if (metadata)
        json_object_set_new(p, "metadata", metadata);
    add_kind(w, s, p);
    add_lease(r, s, p);
    if (x->has_usage)
        json_object_set_new(p, "shareUsageBytes", json_integer(x->usage));
    if (s->state == SHARE_DELETED) {
        timefmt_wire(s->deleted_us, deleted);
        json_object_set_new(p, "deleted", json_true());
        json_object_set_new(p, "deletedTime", json_string(deleted));
        json_object_set_new(p, "version", json_sprintf("%lld", (long long)s->id));
    }
    return json_pack(
        "{s:o, s:s, s:s, s:o, s:o}", "id",
        json_sprintf("%s/%s/default/%s/%s", account_id(r, &x->account), w->above, w->collection,
                     s->name),
        "name", s->name, "type",
        arena_printf(&r->arena, "Microsoft.Storage/storageAccounts/%s/%s", w->above, w->collection),
        "etag", json_sprintf("\"0x%llX\"", (unsigned long long)s->etag), "properties", p);
}

/* --- make and change -------------------------------------------------------------------------- */

/* Replaces stored properties by those of the body. Texts are valid as long as the request. */
static int take_properties(struct rm *m, struct share *s, struct err *e)
{
    struct request *r = m->r;
    const struct share_words *w = m->kind->of;
    const struct storage_account *acct = &((struct rm_share *)m->row)->account;
    const json_t *p = json_object_get(m->given.doc, "properties");
    const json_t *quota = json_object_get(p, "shareQuota");
    const json_t *metadata = json_object_get(p, "metadata");
    const char *tier = rm_text(p, "accessTier"), *access = rm_text(p, "publicAccess");
    const json_t *policies = json_object_get(p, "signedIdentifiers");
    if (metadata)
        s->metadata = request_own_text(r, jsontext(metadata));
    if (policies)
        s->acl = json_array_size(policies) ? request_own_text(r, policies_text(policies)) : NULL;
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

static struct replied *show(struct rm *m, int status)
{
    const struct rm_share *x = m->row;
    reply_header(m->r, "ETag", "\"0x%llX\"", (unsigned long long)x->row.etag);
    return reply_json(m->r, status, share_render(m->r, m->kind->of, x));
}

static void on_counted(void *ctx, const struct err *why, enum file_fault fault, uint64_t bytes)
{
    struct rm *m = ctx;
    struct rm_share *x = m->row;
    (void)fault;
    x->usage = (int64_t)bytes;
    x->has_usage = true;
    request_finish(m->r, why ? reply_err(m->r, why) : show(m, 200));
}

/* Reads $expand, whose only valid value is "stats". */
static int read_expand(struct request *r, bool *stats, struct err *e)
{
    const char *text = request_query(r, "$expand");
    *stats = text && strcasecmp(text, "stats") == 0;
    if (!text || !*text || *stats)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "$expand", "$expand is '%.60s'; it must be stats.", text);
}

struct replied *share_get(struct request *r)
{
    struct err e;
    bool stats;
    struct rm *m = arena_alloc(&r->arena, sizeof *m);
    *m = rm_begin_named(r);
    const struct rm_share *x = m->row;
    if (read_expand(r, &stats, &e) < 0 || find(m, &e) < 0)
        return reply_err(r, &e);
    if (!stats)
        return show(m, 200);
    shares_count(arm_of(r)->shares, &r->arena, &x->row, on_counted, m);
    return reply_later(r);
}

static void on_made(void *ctx, const struct err *why)
{
    struct rm *m = ctx;
    struct err e;
    bool made = !why && find(m, &e) == 0;
    request_finish(m->r, made ? show(m, 201) : reply_err(m->r, why ? why : &e));
}

static struct replied *create(struct rm *m)
{
    struct err e;
    const struct share_words *w = m->kind->of;
    const struct rm_share *x = m->row;
    struct share s = {.account_id = x->account.id,
                      .account = x->account.name,
                      .name = m->name,
                      .kind = w->kind,
                      .quota = w->kind == SHARE_FILES ? QUOTA_USUAL : 0,
                      .public_access = PUBLIC_NONE};
    struct rm *kept = memcpy(arena_alloc(&m->r->arena, sizeof *m), m, sizeof *m);
    if (take_properties(m, &s, &e) < 0 ||
        shares_make(arm_of(m->r)->shares, &s, m->r->now_us, on_made, kept, &e) < 0)
        return reply_err(m->r, &e);
    return reply_later(m->r);
}

static int change(struct rm *m, struct err *e)
{
    struct share *s = &((struct rm_share *)m->row)->row;
    int64_t was = s->etag;
    if (take_properties(m, s, e) < 0)
        return -1;
    s->etag = st_next_etag(was, m->r->now_us);
    s->updated_us = m->r->now_us;
    return st_share_update(arm_of(m->r)->storage, s, was, e);
}

/* --- delete ----------------------------------------------------------------------------------- */

static void on_deleted(void *ctx, const struct err *why)
{
    struct request *r = ctx;
    request_finish(r, why ? reply_err(r, why) : reply_empty(r, 200));
}

static struct replied *remove_share(struct rm *m)
{
    struct err e;
    struct request *r = m->r;
    const struct share_words *w = m->kind->of;
    const struct share *s = &((struct rm_share *)m->row)->row;
    if (lease_is_held(share_lease(r, s))) {
        err_set(&e, STORAGE_RM_LEASED, NULL,
                "There is currently a lease on the %s; break or release it first.", w->noun);
        return reply_err(r, &e);
    }
    if (shares_delete(arm_of(r)->shares, s, r->now_us, on_deleted, r, &e) < 0)
        return reply_err(r, &e);
    return reply_later(r);
}

/* --- the kinds -------------------------------------------------------------------------------- */

static const struct share_words shares = {SHARE_FILES, "share", "fileServices", "shares", false};
static const struct share_words containers = {SHARE_BLOBS, "container", "blobServices",
                                              "containers", true};
static const int no_share[] = {STORAGE_RM_SHARE_NOT_FOUND, 0};
static const int no_container[] = {STORAGE_RM_CONTAINER_NOT_FOUND, 0};

static rm_step *const steps[] = {step_account, step_name, rm_step_body, NULL};

#define SHARE_KIND                                                                                 \
    .param = "share",                                                                              \
    .columns = {.size = sizeof(struct rm_share),                                                   \
                .id = offsetof(struct rm_share, row.id),                                           \
                .name = offsetof(struct rm_share, row.name),                                       \
                .updated = offsetof(struct rm_share, row.updated_us)},                             \
    .steps = steps, .seek = seek, .create = create, .change = change, .rereads = true,             \
    .patch = change, .find = find, .remove = remove_share, .show = show

const struct rm_kind share_kind = {SHARE_KIND,
                                   .what = "share",
                                   .of = &shares,
                                   .schema = &schema_share_rm,
                                   .patch_schema = &schema_share_rm,
                                   .missing = no_share};
const struct rm_kind container_kind = {SHARE_KIND,
                                       .what = "container",
                                       .of = &containers,
                                       .schema = &schema_container_rm,
                                       .patch_schema = &schema_container_rm,
                                       .missing = no_container};
