/* SPDX-License-Identifier: MIT
 *
 * Reads the parameters of a signature, builds the text to sign for each version, and compares
 * signatures in constant time. Pure.
 *
 * A user delegation key is computed from the daemon's secret and from the description of the key
 * that each signature contains, so no key is stored.
 */
#include "api/plane/storage/sas.h"

#include <assert.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/storage/errors.h"
#include "api/plane/storage/shared_key.h"
#include "lib/network.h"
#include "lib/timefmt.h"

#define SAS_NAME(field, name) [SAS_##field] = name,
static const char *const names[SAS_FIELDS] = {SAS_PARAMETERS(SAS_NAME)};
#undef SAS_NAME

/* --- the text to sign ----------------------------------------------------------------------- */

/* A line of the text to sign, and the first version of signatures that has it (NULL: every
 * version). */
struct sas_line {
    enum sas_field field;
    const char *from;
};

static const struct sas_line account_lines[] = {
    {SAS_ACCOUNT, NULL},   {SAS_PERMISSIONS, NULL},
    {SAS_SERVICES, NULL},  {SAS_RESOURCE_TYPES, NULL},
    {SAS_START, NULL},     {SAS_EXPIRY, NULL},
    {SAS_ADDRESSES, NULL}, {SAS_PROTOCOLS, NULL},
    {SAS_VERSION, NULL},   {SAS_ENCRYPTION_SCOPE, "2020-12-06"},
};
static const struct sas_line file_lines[] = {
    {SAS_PERMISSIONS, NULL},
    {SAS_START, NULL},
    {SAS_EXPIRY, NULL},
    {SAS_RESOURCE, NULL},
    {SAS_POLICY, NULL},
    {SAS_ADDRESSES, "2015-04-05"},
    {SAS_PROTOCOLS, "2015-04-05"},
    {SAS_VERSION, NULL},
    {SAS_CACHE_CONTROL, NULL},
    {SAS_DISPOSITION, NULL},
    {SAS_ENCODING, NULL},
    {SAS_LANGUAGE, NULL},
    {SAS_TYPE, NULL},
};
static const struct sas_line blob_lines[] = {
    {SAS_PERMISSIONS, NULL},
    {SAS_START, NULL},
    {SAS_EXPIRY, NULL},
    {SAS_RESOURCE, NULL},
    {SAS_POLICY, NULL},
    {SAS_ADDRESSES, "2015-04-05"},
    {SAS_PROTOCOLS, "2015-04-05"},
    {SAS_VERSION, NULL},
    {SAS_RESOURCE_KIND, "2018-11-09"},
    {SAS_SNAPSHOT, "2018-11-09"},
    {SAS_ENCRYPTION_SCOPE, "2020-12-06"},
    {SAS_CACHE_CONTROL, NULL},
    {SAS_DISPOSITION, NULL},
    {SAS_ENCODING, NULL},
    {SAS_LANGUAGE, NULL},
    {SAS_TYPE, NULL},
};
/* The lines of the oldest version of service signatures, which has no fields for reply headers. */
static const struct sas_line oldest_lines[] = {
    {SAS_PERMISSIONS, NULL}, {SAS_START, NULL},  {SAS_EXPIRY, NULL},
    {SAS_RESOURCE, NULL},    {SAS_POLICY, NULL}, {SAS_VERSION, NULL},
};
static const struct sas_line delegated_blob_lines[] = {
    {SAS_PERMISSIONS, NULL},
    {SAS_START, NULL},
    {SAS_EXPIRY, NULL},
    {SAS_RESOURCE, NULL},
    {SAS_KEY_OBJECT, NULL},
    {SAS_KEY_TENANT, NULL},
    {SAS_KEY_START, NULL},
    {SAS_KEY_EXPIRY, NULL},
    {SAS_KEY_SERVICE, NULL},
    {SAS_KEY_VERSION, NULL},
    {SAS_AUTHORIZED_OBJECT, "2020-02-10"},
    {SAS_UNAUTHORIZED_OBJECT, "2020-02-10"},
    {SAS_CORRELATION, "2020-02-10"},
    {SAS_KEY_USER_TENANT, "2025-07-05"},
    {SAS_USER_OBJECT, "2025-07-05"},
    {SAS_ADDRESSES, NULL},
    {SAS_PROTOCOLS, NULL},
    {SAS_VERSION, NULL},
    {SAS_RESOURCE_KIND, NULL},
    {SAS_SNAPSHOT, NULL},
    {SAS_ENCRYPTION_SCOPE, "2020-12-06"},
    {SAS_REQUEST_HEADERS, "2026-04-06"},
    {SAS_REQUEST_QUERY, "2026-04-06"},
    {SAS_CACHE_CONTROL, NULL},
    {SAS_DISPOSITION, NULL},
    {SAS_ENCODING, NULL},
    {SAS_LANGUAGE, NULL},
    {SAS_TYPE, NULL},
};
static const struct sas_line delegated_file_lines[] = {
    {SAS_PERMISSIONS, NULL},     {SAS_START, NULL},
    {SAS_EXPIRY, NULL},          {SAS_RESOURCE, NULL},
    {SAS_KEY_OBJECT, NULL},      {SAS_KEY_TENANT, NULL},
    {SAS_KEY_START, NULL},       {SAS_KEY_EXPIRY, NULL},
    {SAS_KEY_SERVICE, NULL},     {SAS_KEY_VERSION, NULL},
    {SAS_KEY_USER_TENANT, NULL}, {SAS_USER_OBJECT, NULL},
    {SAS_ADDRESSES, NULL},       {SAS_PROTOCOLS, NULL},
    {SAS_VERSION, NULL},         {SAS_CACHE_CONTROL, NULL},
    {SAS_DISPOSITION, NULL},     {SAS_ENCODING, NULL},
    {SAS_LANGUAGE, NULL},        {SAS_TYPE, NULL},
};

struct text_form {
    const struct sas_line *lines;
    size_t n;
};
#define FORM(lines)                                                                                \
    {                                                                                              \
        lines, sizeof(lines) / sizeof(lines)[0]                                                    \
    }

static const struct text_form forms[SAS_KINDS][2] = {
    [SAS_OF_ACCOUNT] = {FORM(account_lines), FORM(account_lines)},
    [SAS_OF_SERVICE] = {[SAS_BLOB] = FORM(blob_lines), [SAS_FILE] = FORM(file_lines)},
    [SAS_DELEGATED] =
        {[SAS_BLOB] = FORM(delegated_blob_lines), [SAS_FILE] = FORM(delegated_file_lines)},
};
static const struct text_form oldest_form = FORM(oldest_lines);

/* Whether the signature's version is older. Versions are dates, so they can be compared as
 * texts. */
static bool is_before(const struct sas *s, const char *version)
{
    return strcmp(s->field[SAS_VERSION], version) < 0;
}

static bool has_line(const struct sas *s, const struct sas_line *l)
{
    return !l->from || !is_before(s, l->from);
}

void sas_text(const struct sas *s, enum sas_service service, const char *account, const char *path,
              struct arena *a, struct strbuf *out)
{
    static const char *const roots[] = {[SAS_BLOB] = "/blob", [SAS_FILE] = "/file"};
    struct sas whole = *s;
    const struct text_form *form = &forms[s->kind][service];
    const char *end = s->kind == SAS_OF_ACCOUNT ? "\n" : "";
    if (s->kind == SAS_OF_SERVICE && is_before(s, "2013-08-15"))
        form = &oldest_form;
    whole.field[SAS_ACCOUNT] = account;
    const char *kind = s->field[SAS_RESOURCE_KIND];
    if (!kind || strcmp(kind, "bs") != 0)
        /* the request's parameter "snapshot" is not signed */
        whole.field[SAS_SNAPSHOT] = NULL;
    whole.field[SAS_RESOURCE] =
        arena_printf(a, "%s/%s%s", is_before(s, "2015-02-21") ? "" : roots[service], account, path);
    for (size_t i = 0, n = 0; i < form->n; i++) {
        const char *value = whole.field[form->lines[i].field];
        if (!has_line(s, &form->lines[i]))
            continue;
        if (n++ > 0)
            strbuf_putc(out, '\n');
        strbuf_puts(out, value ? value : "");
    }
    strbuf_puts(out, end);
}

const char *sas_path(const struct sas *s, const char *path, struct arena *a)
{
    const char *kind = s->field[SAS_RESOURCE_KIND];
    size_t segments = SIZE_MAX;
    if (kind && (strcmp(kind, "c") == 0 || strcmp(kind, "s") == 0))
        segments = 1;
    else if (kind && strcmp(kind, "d") == 0)
        segments = 1 + (size_t)strtoul(s->field[SAS_DEPTH] ? s->field[SAS_DEPTH] : "0", NULL, 10);
    const char *end = path;
    for (; *end == '/' && segments > 0; segments--)
        end = strchrnul(end + 1, '/');
    return segments == 0 ? arena_strndup(a, path, (size_t)(end - path)) : path;
}

/* --- reading -------------------------------------------------------------------------------- */

static int refuse(struct err *e, int code, const char *parameter, const char *why)
{
    return err_set(e, code, parameter, "%s", why);
}

static int find_fields(const struct named_value *query, size_t n, struct sas *out, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        for (int f = 0; f < SAS_ACCOUNT; f++) {
            if (strcasecmp(query[i].name, names[f]) != 0)
                continue;
            if (out->field[f])
                return err_set(e, AZSTORAGE_AUTHENTICATION, names[f],
                               "The signature's parameter %s is given twice.", names[f]);
            out->field[f] = query[i].value;
        }
    return 0;
}

static bool is_version(const char *s)
{
    return strlen(s) == 10 && s[4] == '-' && s[7] == '-' && strspn(s, "0123456789-") == 10;
}

int sas_read(const struct named_value *query, size_t n, struct sas *out, struct err *e)
{
    *out = (struct sas){.kind = SAS_OF_SERVICE};
    if (find_fields(query, n, out, e) < 0)
        return -1;
    if (!out->field[SAS_SIGNATURE])
        return 0;
    const char *version = out->field[SAS_VERSION];
    if (!version || !is_version(version))
        return err_set(e, AZSTORAGE_AUTHENTICATION, "sv",
                       "The signature's version sv is '%.40s'; it must be a date such as "
                       "2021-06-08.",
                       version ? version : "");
    if (out->field[SAS_SERVICES] || out->field[SAS_RESOURCE_TYPES])
        out->kind = SAS_OF_ACCOUNT;
    else if (out->field[SAS_KEY_OBJECT])
        out->kind = SAS_DELEGATED;
    else if (!out->field[SAS_RESOURCE_KIND])
        return refuse(e, AZSTORAGE_AUTHENTICATION, "sr",
                      "The signature lacks sr, or ss and srt, which select its resources.");
    return 1;
}

int sas_time(const char *text, int64_t *us)
{
    char whole[TIMEFMT_SIZE];
    size_t n = strlen(text);
    if (n == strlen("2027-01-01"))
        snprintf(whole, sizeof whole, "%sT00:00:00Z", text);
    else if (n == strlen("2027-01-01T00:00Z") && text[n - 1] == 'Z')
        snprintf(whole, sizeof whole, "%.*s:00Z", (int)n - 1, text);
    else if (n < sizeof whole)
        memcpy(whole, text, n + 1);
    else
        return -1;
    return timefmt_parse(whole, us);
}

int sas_find_policy(const struct sas *s, const char *policies, struct arena *a,
                    struct sas_policy *out)
{
    const char *name = s->field[SAS_POLICY];
    json_auto_t *all = policies ? json_loads(policies, 0, NULL) : NULL;
    json_t *one;
    size_t i;
    int found = 0;
    json_array_foreach(all, i, one) {
        const char *id = json_string_value(json_object_get(one, "id"));
        if (!id || strcmp(id, name) != 0)
            continue;
        const char *perms = json_string_value(json_object_get(one, "permissions"));
        const char *start = json_string_value(json_object_get(one, "start"));
        const char *expiry = json_string_value(json_object_get(one, "expiry"));
        out->permissions = arena_strdup(a, perms ? perms : "");
        found = (!start || sas_time(start, &out->start_us) == 0) &&
                (!expiry || sas_time(expiry, &out->expiry_us) == 0);
    }
    return found;
}

/* --- grants ----------------------------------------------------------------------------------- */

static const char *text_of(const struct sas *s, enum sas_field f)
{
    return s->field[f] ? s->field[f] : "";
}

/* Reads a time of the signature; without it *us is the time of its policy, `policy` (0: none). */
static int time_of(const struct sas *s, enum sas_field f, int64_t policy, int64_t *us,
                   struct err *e)
{
    const char *text = text_of(s, f);
    *us = policy;
    if (!*text || sas_time(text, us) == 0)
        return 0;
    return err_set(e, AZSTORAGE_AUTHENTICATION, names[f],
                   "The signature's %s is '%.40s'; it must be a time such as "
                   "2027-01-01T00:00:00Z.",
                   names[f], text);
}

static int check_times(const struct sas *s, const struct sas_use *use, struct err *e)
{
    const struct sas_policy *p = use->policy;
    int64_t start, expiry;
    if (time_of(s, SAS_START, p ? p->start_us : 0, &start, e) < 0 ||
        time_of(s, SAS_EXPIRY, p ? p->expiry_us : 0, &expiry, e) < 0)
        return -1;
    char when[TIMEFMT_SIZE];
    timefmt_exact(start > use->now_us ? start : expiry, when);
    if (start > use->now_us)
        return err_set(e, AZSTORAGE_AUTHENTICATION, "st",
                       "Signature not valid in the specified time frame: it begins at %s.", when);
    if (expiry == 0)
        return refuse(e, AZSTORAGE_AUTHENTICATION, "se",
                      "The signature has no end: se is neither in it nor in its policy.");
    if (expiry <= use->now_us)
        return err_set(e, AZSTORAGE_AUTHENTICATION, "se",
                       "Signature not valid in the specified time frame: it ended at %s.", when);
    return 0;
}

static bool address_is_in(const char *range, const char *peer)
{
    struct net_address first, last, one;
    size_t n = (size_t)(strchrnul(range, '-') - range);
    const char *end = range[n] ? range + n + 1 : range;
    return net_address_read(range, n, &first) == 0 &&
           net_address_read(end, range[n] ? strlen(end) : n, &last) == 0 &&
           net_address_read(peer, strlen(peer), &one) == 0 &&
           memcmp(&one, &first, sizeof one) >= 0 && memcmp(&one, &last, sizeof one) <= 0;
}

static int check_address(const struct sas *s, const struct sas_use *use, struct err *e)
{
    const char *range = text_of(s, SAS_ADDRESSES);
    if (!*range || address_is_in(range, use->peer))
        return 0;
    return err_set(e, AZSTORAGE_SOURCE_ADDRESS, "sip",
                   "This request is not authorized to perform this operation using this source IP "
                   "%s; the signature is for %.90s.",
                   use->peer, range);
}

static int check_protocol(const struct sas *s, const struct sas_use *use, struct err *e)
{
    const char *protocols = text_of(s, SAS_PROTOCOLS);
    if (!*protocols || use->https || strcmp(protocols, "https,http") == 0)
        return 0;
    return refuse(e, AZSTORAGE_PROTOCOL, "spr",
                  "This request is not authorized to perform this operation using this protocol; "
                  "the signature is for https only.");
}

static int check_account_grant(const struct sas *s, const struct sas_use *use, struct err *e)
{
    if (!strchr(text_of(s, SAS_SERVICES), use->service))
        return err_set(e, AZSTORAGE_SERVICE, "ss",
                       "This request is not authorized to perform this operation using this "
                       "service; the signature's services are '%.20s'.",
                       text_of(s, SAS_SERVICES));
    if (!strchr(text_of(s, SAS_RESOURCE_TYPES), use->resource_type))
        return err_set(
            e, AZSTORAGE_RESOURCE_TYPE, "srt",
            "This request is not authorized to perform this operation using this resource type; "
            "the signature's types are '%.20s', but the request needs '%c'.",
            text_of(s, SAS_RESOURCE_TYPES), use->resource_type);
    return 0;
}

/* The first version with signatures for directories, which exist only for blobs. Older versions,
 * and signatures for files, do not sign the type of resource, so anybody could turn such a
 * signature into one for a directory. */
#define DIRECTORIES_SINCE "2020-02-10"

static bool may_be_directory(const struct sas *s, const struct sas_use *use)
{
    return use->service == 'b' && !is_before(s, DIRECTORIES_SINCE);
}

/* Checks that the signature's type of resource allows requests of this kind: a service signature
 * allows nothing on the account, and only some operations on the container or share itself. */
static int check_service_grant(const struct sas *s, const struct sas_use *use, struct err *e)
{
    const char *kind = text_of(s, SAS_RESOURCE_KIND);
    if (strcmp(kind, "d") == 0 && !may_be_directory(s, use))
        return err_set(e, AZSTORAGE_AUTHENTICATION, "sr",
                       "The signature is for a directory (sr=d) and has the version sv=%.40s; such "
                       "signatures need the blob service and sv=" DIRECTORIES_SINCE " or later.",
                       text_of(s, SAS_VERSION));
    bool whole = strcmp(kind, "c") == 0 || strcmp(kind, "s") == 0 || strcmp(kind, "d") == 0;
    if (use->resource_type == 'o' || (use->resource_type == 'c' && whole))
        return 0;
    return err_set(e, AZSTORAGE_AUTHORIZATION, "sr",
                   "This request is not authorized to perform this operation: the signature is for "
                   "sr=%.10s.",
                   kind);
}

static int check_permission(const struct sas *s, const struct sas_use *use, struct err *e)
{
    const char *has = text_of(s, SAS_PERMISSIONS);
    if (!*has && use->policy)
        has = use->policy->permissions;
    if (!*use->permissions || strpbrk(has, use->permissions))
        return 0;
    return err_set(
        e, AZSTORAGE_PERMISSION, "sp",
        "This request is not authorized to perform this operation using this permission; the "
        "signature's permissions are '%.40s', but the request needs one of '%s'.",
        has, use->permissions);
}

/* Refuses a signature for one user. It would need a token of that user too, but a request cannot
 * have both. */
static int check_user(const struct sas *s, struct err *e)
{
    if (!*text_of(s, SAS_USER_OBJECT))
        return 0;
    return err_set(e, AZSTORAGE_AUTHENTICATION, names[SAS_USER_OBJECT],
                   "Signatures for a single user are not supported: sduoid is '%.60s'; make the "
                   "signature without it.",
                   text_of(s, SAS_USER_OBJECT));
}

/* Refuses a value that is in both the signature and its policy: a change of the policy, made to
 * revoke the signature, would have no effect. */
static int check_policy(const struct sas *s, const struct sas_use *use, struct err *e)
{
    const struct sas_policy *p = use->policy;
    const struct {
        enum sas_field field;
        bool in_policy;
    } both[] = {{SAS_PERMISSIONS, p && *p->permissions},
                {SAS_START, p && p->start_us},
                {SAS_EXPIRY, p && p->expiry_us}};
    for (size_t i = 0; i < sizeof both / sizeof both[0]; i++)
        if (both[i].in_policy && *text_of(s, both[i].field))
            return err_set(e, AZSTORAGE_AUTHENTICATION, names[both[i].field],
                           "%s is '%.60s' in the signature, and its stored access policy '%.64s' "
                           "has a value too; only one of them may have it.",
                           names[both[i].field], text_of(s, both[i].field), text_of(s, SAS_POLICY));
    return 0;
}

int sas_check(const struct sas *s, const struct sas_use *use, struct err *e)
{
    bool all = s->kind == SAS_OF_ACCOUNT;
    if (check_user(s, e) < 0 || check_policy(s, use, e) < 0 || check_times(s, use, e) < 0 ||
        check_address(s, use, e) < 0 || check_protocol(s, use, e) < 0 ||
        (all ? check_account_grant(s, use, e) : check_service_grant(s, use, e)) < 0)
        return -1;
    return check_permission(s, use, e);
}

/* --- keys of user delegations ----------------------------------------------------------------- */

void delegation_key(const uint8_t secret[32], const struct sas *s,
                    unsigned char out[DELEGATION_KEY_BYTES])
{
    static const enum sas_field parts[] = {SAS_KEY_OBJECT, SAS_KEY_TENANT,  SAS_KEY_START,
                                           SAS_KEY_EXPIRY, SAS_KEY_SERVICE, SAS_KEY_VERSION};
    crypto_auth_hmacsha256_state h;
    static const char purpose[] = "user delegation key";
    crypto_auth_hmacsha256_init(&h, secret, 32);
    crypto_auth_hmacsha256_update(&h, (const unsigned char *)purpose, sizeof purpose);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *text = s->field[parts[i]] ? s->field[parts[i]] : "";
        crypto_auth_hmacsha256_update(&h, (const unsigned char *)text, strlen(text) + 1);
    }
    crypto_auth_hmacsha256_final(&h, out);
    sodium_memzero(&h, sizeof h);
}

bool delegation_signed(const uint8_t secret[32], const struct sas *s, const struct strbuf *text)
{
    unsigned char key[DELEGATION_KEY_BYTES];
    char made[SIGNATURE_SIZE];
    delegation_key(secret, s, key);
    signature_make(key, sizeof key, text->s, text->len, made);
    sodium_memzero(key, sizeof key);
    return signature_equals(s->field[SAS_SIGNATURE], made);
}

int delegation_who(const struct directory *d, const struct sas *s, int64_t now_us,
                   struct principal *who, const char **why, struct err *e)
{
    int64_t start = 0, end = 0;
    const char *begins = s->field[SAS_KEY_START], *ends = s->field[SAS_KEY_EXPIRY];
    *why = "The user delegation key is not valid now: the signature needs skt and ske, and the "
           "present time must be between them.";
    if (!begins || !ends || sas_time(begins, &start) < 0 || sas_time(ends, &end) < 0 ||
        start > now_us + SIGNED_SKEW_US || end <= now_us)
        return 0;
    *why = "Nobody has the object id of the user delegation key (skoid).";
    return d && s->field[SAS_KEY_OBJECT] ? d->find(d->ctx, s->field[SAS_KEY_OBJECT], who, e) : 0;
}
