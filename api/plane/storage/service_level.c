/* SPDX-License-Identifier: MIT
 *
 * Operations on the account: they show its kind, show and set the properties of a service, and
 * issue user delegation keys.
 */
#include "api/plane/storage/service_level.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/principal.h"
#include "api/http/xml.h"
#include "api/plane/storage/sas.h"
#include "api/plane/storage/service_settings.h"
#include "api/plane/storage/xml_write.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define DAY_US      (24 * 3600 * INT64_C(1000000))
#define DELEGATE_US (7 * DAY_US)

struct replied *plane_account(struct request *r)
{
    const struct storage_account *s = &grant_of(r)->account;
    reply_header_text(r, "x-ms-sku-name", s->sku);
    reply_header_text(r, "x-ms-account-kind", s->kind);
    reply_header_text(r, "x-ms-is-hns-enabled", "false");
    return reply_empty(r, 200);
}

/* --- properties of the service -------------------------------------------------------------- */

static const char **settings_of(struct storage_account *s, enum sas_service service)
{
    return service == SAS_BLOB ? &s->blob_service : &s->file_service;
}

struct replied *plane_service(struct request *r)
{
    struct grant *g = grant_of(r);
    const char *text = *settings_of(&g->account, g->plane->service);
    json_auto_t *doc = text ? json_loads(text, 0, NULL) : NULL;
    struct strbuf b = STRBUF_INIT;
    settings_write(&b, g->plane->service, doc);
    return reply_text(r, 200, "application/xml", strbuf_take(&b));
}

static int store(struct request *r, struct storage_account *s, const json_t *doc, struct err *e)
{
    *settings_of(s, grant_of(r)->plane->service) = jsontext_in(&r->arena, doc);
    s->updated_us = r->now_us;
    return st_account_update(azstorage_of(r)->storage, s, e);
}

/* Reads the account's row again, because it may have changed or gone since the access check. */
static int find_again(struct request *r, struct storage_account *out, struct err *e)
{
    const struct storage_account *was = &grant_of(r)->account;
    int rc = st_account_by_id(azstorage_of(r)->storage, &r->arena, was->id, out, e);
    if (rc == 0)
        return err_set(e, AZSTORAGE_NO_ACCOUNT, NULL,
                       "The storage account '%.60s' was deleted while the request came.",
                       was->name);
    return rc < 0 ? -1 : 0;
}

struct replied *plane_set_service(struct request *r)
{
    struct err e;
    struct storage_account s;
    enum sas_service service = grant_of(r)->plane->service;
    if (find_again(r, &s, &e) < 0)
        return reply_err(r, &e);
    const char *text = *settings_of(&s, service);
    json_auto_t *doc = text ? json_loads(text, 0, NULL) : json_object();
    int rc = settings_read(r->xml, service, doc, &e);
    if (rc == 0)
        rc = store(r, &s, doc, &e);
    return rc < 0 ? reply_err(r, &e) : reply_empty(r, 202);
}

/* --- user delegation ------------------------------------------------------------------------ */

static int read_times(struct request *r, const char **start, const char **end, struct err *e)
{
    int64_t from = r->now_us, to = 0;
    const char *s = r->xml ? xml_text(r->xml, "Start") : NULL;
    const char *x = r->xml ? xml_text(r->xml, "Expiry") : NULL;
    if (!x)
        return err_set(e, AZSTORAGE_NODE_MISSING, "Expiry",
                       "A required XML node was not specified in the request body: Expiry.");
    if ((s && sas_time(s, &from) < 0) || sas_time(x, &to) < 0 || to <= from || to <= r->now_us ||
        to > r->now_us + DELEGATE_US)
        return err_set(e, ERR_INVALID_CONTENT, "Expiry",
                       "A delegation key is for at most 7 days from now: Start '%.40s', Expiry "
                       "'%.40s'.",
                       s ? s : "", x);
    char text[TIMEFMT_SIZE];
    timefmt_seconds(from, text);
    *start = arena_strdup(&r->arena, text);
    timefmt_seconds(to, text);
    *end = arena_strdup(&r->arena, text);
    return 0;
}

struct replied *plane_delegate(struct request *r)
{
    struct err e;
    struct sas s = {.kind = SAS_DELEGATED};
    unsigned char key[DELEGATION_KEY_BYTES];
    char value[sodium_base64_ENCODED_LEN(DELEGATION_KEY_BYTES, sodium_base64_VARIANT_ORIGINAL)];
    if (grant_of(r)->how != GRANT_TOKEN) {
        err_set(&e, AZSTORAGE_AUTHENTICATION, NULL,
                "Only authentication scheme Bearer is supported: log in to be given a key.");
        return reply_err(r, &e);
    }
    if (read_times(r, &s.field[SAS_KEY_START], &s.field[SAS_KEY_EXPIRY], &e) < 0)
        return reply_err(r, &e);
    s.field[SAS_KEY_OBJECT] = r->who->object_id;
    s.field[SAS_KEY_TENANT] = TENANT_ID;
    s.field[SAS_KEY_SERVICE] = grant_of(r)->plane->service == SAS_FILE ? "f" : "b";
    s.field[SAS_KEY_VERSION] = request_header(r, "x-ms-version");
    delegation_key(r->config->token_key, &s, key);
    sodium_bin2base64(value, sizeof value, key, sizeof key, sodium_base64_VARIANT_ORIGINAL);
    sodium_memzero(key, sizeof key);
    struct strbuf b = STRBUF_INIT;
    xml_begin_document(&b);
    xml_open(&b, "UserDelegationKey");
    xml_element(&b, "SignedOid", s.field[SAS_KEY_OBJECT]);
    xml_element(&b, "SignedTid", s.field[SAS_KEY_TENANT]);
    xml_element(&b, "SignedStart", s.field[SAS_KEY_START]);
    xml_element(&b, "SignedExpiry", s.field[SAS_KEY_EXPIRY]);
    xml_element(&b, "SignedService", s.field[SAS_KEY_SERVICE]);
    xml_element(&b, "SignedVersion", s.field[SAS_KEY_VERSION] ? s.field[SAS_KEY_VERSION] : "");
    xml_element(&b, "Value", value);
    xml_close(&b, "UserDelegationKey");
    sodium_memzero(value, sizeof value);
    return reply_text(r, 200, "application/xml", strbuf_take(&b));
}
