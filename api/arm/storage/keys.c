/* SPDX-License-Identifier: MIT
 *
 * The keys of a storage account, and signatures made with them.
 */
#include <sodium.h>
#include <string.h>

#include "api/arm/kind.h"
#include "api/arm/storage/account.h"
#include "api/arm/storage/routes.h"
#include "api/arm/storage/storage_rm.h"
#include "api/http/accept.h"
#include "api/http/url.h"
#include "api/plane/storage/sas.h"
#include "storage/storage.h"

#define KEY_TEXT sodium_base64_ENCODED_LEN(ACCOUNT_KEY_BYTES, sodium_base64_VARIANT_ORIGINAL)
/* The version of the signatures that the daemon creates; all clients support it. */
#define SAS_VERSION_MADE "2021-06-08"

static const char *const key_names[] = {"key1", "key2"};

static int get_keys(struct request *r, const struct storage_account *s, struct account_keys *keys,
                    struct err *e)
{
    int rc = st_account_keys(arm_of(r)->storage, s->id, keys, e);
    if (rc == 0)
        return err_set(e, ERR_RESOURCE_NOT_FOUND, NULL, "The storage account %s is gone.", s->name);
    return rc < 0 ? -1 : 0;
}

static json_t *key(const char *name, const unsigned char *bytes, int64_t made_us)
{
    char text[KEY_TEXT], made[TIMEFMT_SIZE];
    sodium_bin2base64(text, sizeof text, bytes, ACCOUNT_KEY_BYTES, sodium_base64_VARIANT_ORIGINAL);
    timefmt_wire(made_us, made);
    json_t *item = json_pack("{s:s, s:s, s:s, s:s}", "keyName", name, "value", text, "permissions",
                             "Full", "creationTime", made);
    sodium_memzero(text, sizeof text);
    return item;
}

static struct replied *reply_keys(struct request *r, const struct storage_account *s)
{
    struct err e;
    struct account_keys keys;
    if (get_keys(r, s, &keys, &e) < 0)
        return reply_err(r, &e);
    json_t *list = json_pack("[o, o]", key(key_names[0], keys.key[0], s->key1_us),
                             key(key_names[1], keys.key[1], s->key2_us));
    st_account_forget_keys(&keys);
    return reply_json(r, 200, json_pack("{s:o}", "keys", list));
}

struct replied *accounts_list_keys(struct request *r)
{
    struct err e;
    struct storage_account s;
    return find_made_account(r, &s, &e) < 0 ? reply_err(r, &e) : reply_keys(r, &s);
}

/* The index of the key that the body names: 0 or 1; 0 if it names none. */
static int key_number(const json_t *doc, const char *property)
{
    const char *name = json_string_value(json_object_get(doc, property));
    return name && strcmp(name, key_names[1]) == 0;
}

struct replied *accounts_regenerate_key(struct request *r)
{
    struct err e;
    struct storage_account s;
    struct account_keys fresh;
    struct accepted given;
    if (find_made_account(r, &s, &e) < 0 || request_accept(r, &schema_key_name, 0, &given, &e) < 0)
        return reply_err(r, &e);
    int which = key_number(given.doc, "keyName");
    st_account_new_keys(&fresh);
    int rc = st_account_set_key(arm_of(r)->storage, s.id, which, fresh.key[which], r->now_us, &e);
    st_account_forget_keys(&fresh);
    if (rc < 0)
        return reply_err(r, &e);
    LOG_INFO(r->config->log, "storage_account.key_regenerated", LF_STR("account", s.name),
             LF_STR("key", key_names[which]), LF_STR("by", r->who->name));
    *(which ? &s.key2_us : &s.key1_us) = r->now_us;
    return reply_keys(r, &s);
}

/* --- signatures ------------------------------------------------------------------------------- */

/* A property of the body and the query parameter that it becomes, in the order of the query. */
struct sas_property {
    enum sas_field field;
    const char *property, *parameter;
};

static const struct sas_property of_account[] = {
    {SAS_SERVICES, "signedServices", "ss"},      {SAS_RESOURCE_TYPES, "signedResourceTypes", "srt"},
    {SAS_PERMISSIONS, "signedPermission", "sp"}, {SAS_START, "signedStart", "st"},
    {SAS_EXPIRY, "signedExpiry", "se"},          {SAS_ADDRESSES, "signedIp", "sip"},
    {SAS_PROTOCOLS, "signedProtocol", "spr"}};
static const struct sas_property of_service[] = {{SAS_RESOURCE_KIND, "signedResource", "sr"},
                                                 {SAS_PERMISSIONS, "signedPermission", "sp"},
                                                 {SAS_START, "signedStart", "st"},
                                                 {SAS_EXPIRY, "signedExpiry", "se"},
                                                 {SAS_POLICY, "signedIdentifier", "si"},
                                                 {SAS_ADDRESSES, "signedIp", "sip"},
                                                 {SAS_PROTOCOLS, "signedProtocol", "spr"},
                                                 {SAS_CACHE_CONTROL, "rscc", "rscc"},
                                                 {SAS_DISPOSITION, "rscd", "rscd"},
                                                 {SAS_ENCODING, "rsce", "rsce"},
                                                 {SAS_LANGUAGE, "rscl", "rscl"},
                                                 {SAS_TYPE, "rsct", "rsct"}};

struct signing {
    const struct sas_property *of;
    size_t n;
    struct sas sas;
    enum sas_service service;
    const char *path; /* "/container[/blob]" */
    struct strbuf token;
};

static void add_parameter(struct strbuf *out, const char *name, const char *value)
{
    strbuf_printf(out, "%s%s=", out->len ? "&" : "", name);
    url_encode(out, value, 0);
}

static void take_properties(struct signing *g, const json_t *doc)
{
    g->sas.field[SAS_VERSION] = SAS_VERSION_MADE;
    add_parameter(&g->token, "sv", SAS_VERSION_MADE);
    for (size_t i = 0; i < g->n; i++) {
        const char *value = json_string_value(json_object_get(doc, g->of[i].property));
        if (!value || !*value)
            continue;
        g->sas.field[g->of[i].field] = value;
        add_parameter(&g->token, g->of[i].parameter, value);
    }
}

static int sign(struct request *r, const struct storage_account *s, struct signing *g, int which,
                struct err *e)
{
    struct account_keys keys;
    struct strbuf text = STRBUF_INIT;
    char made[SIGNATURE_SIZE];
    if (get_keys(r, s, &keys, e) < 0)
        return -1;
    sas_text(&g->sas, g->service, s->name, g->path, &r->arena, &text);
    signature_make(keys.key[which], ACCOUNT_KEY_BYTES, text.s, text.len, made);
    st_account_forget_keys(&keys);
    strbuf_free(&text);
    add_parameter(&g->token, "sig", made);
    return 0;
}

static struct replied *reply_token(struct request *r, const struct storage_account *s,
                                   struct signing *g, const json_t *doc, const char *called)
{
    struct err e;
    take_properties(g, doc);
    int rc = sign(r, s, g, key_number(doc, "keyToSign"), &e);
    json_t *token = rc < 0 ? NULL : json_stringn(g->token.s, g->token.len);
    strbuf_free(&g->token);
    return rc < 0 ? reply_err(r, &e) : reply_json(r, 200, json_pack("{s:o}", called, token));
}

struct replied *accounts_list_account_sas(struct request *r)
{
    struct err e;
    struct storage_account s;
    struct signing g = {.of = of_account,
                        .n = sizeof of_account / sizeof of_account[0],
                        .sas = {.kind = SAS_OF_ACCOUNT},
                        .path = "",
                        .token = STRBUF_INIT};
    struct accepted given;
    if (find_made_account(r, &s, &e) < 0 ||
        request_accept(r, &schema_account_sas, 0, &given, &e) < 0)
        return reply_err(r, &e);
    return reply_token(r, &s, &g, given.doc, "accountSasToken");
}

/* Reads the resource to sign, "/blob/ACCOUNT/container/blob": the service and the path in it. */
static int take_resource(struct request *r, const struct storage_account *s, const json_t *doc,
                         struct signing *g, struct err *e)
{
    static const char *const roots[] = {[SAS_BLOB] = "/blob/", [SAS_FILE] = "/file/"};
    const char *given = json_string_value(json_object_get(doc, "canonicalizedResource"));
    size_t n = strlen(s->name);
    for (int service = SAS_BLOB; service <= SAS_FILE; service++) {
        size_t root = strlen(roots[service]);
        if (strncmp(given, roots[service], root) != 0 || strncmp(given + root, s->name, n) != 0 ||
            given[root + n] != '/')
            continue;
        g->service = (enum sas_service)service;
        g->path = arena_strdup(&r->arena, given + root + n);
        return 0;
    }
    return err_set(e, ERR_INVALID_PROPERTY, "canonicalizedResource",
                   "canonicalizedResource is '%.200s'; it must be '/blob/%s/CONTAINER[/BLOB]' or "
                   "'/file/%s/SHARE[/PATH]'",
                   given, s->name, s->name);
}

struct replied *accounts_list_service_sas(struct request *r)
{
    struct err e;
    struct storage_account s;
    struct signing g = {.of = of_service,
                        .n = sizeof of_service / sizeof of_service[0],
                        .sas = {.kind = SAS_OF_SERVICE},
                        .token = STRBUF_INIT};
    struct accepted given;
    if (find_made_account(r, &s, &e) < 0 ||
        request_accept(r, &schema_service_sas, 0, &given, &e) < 0)
        return reply_err(r, &e);
    return take_resource(r, &s, given.doc, &g, &e) < 0
               ? reply_err(r, &e)
               : reply_token(r, &s, &g, given.doc, "serviceSasToken");
}
