/* SPDX-License-Identifier: MIT
 *
 * What a data plane says of the account and of itself: the account's kind, properties of the
 * service, and keys to sign delegated signatures with.
 */
#include "api/azstorage/service_level.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "api/azstorage/xml_write.h"
#include "api/http/principal.h"
#include "api/http/xml.h"

/* Of which nothing is kept. */
#define METRICS(name)                                                                              \
    "<" name "><Version>1.0</Version><Enabled>false</Enabled><RetentionPolicy><Enabled>false"      \
    "</Enabled></RetentionPolicy></" name ">"

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

/* Nothing is logged or measured by the service here, and no other origin is let in. */
struct replied *plane_service(struct request *r)
{
    static const char metrics[] = METRICS("HourMetrics") METRICS("MinuteMetrics") "<Cors />";
    static const char of_blobs[] =
        "<Logging><Version>1.0</Version><Delete>false</Delete><Read>false</Read><Write>false"
        "</Write><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>"
        "<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>"
        "<StaticWebsite><Enabled>false</Enabled></StaticWebsite>";
    static const char of_files[] = "<ProtocolSettings><SMB><Multichannel><Enabled>false</Enabled>"
                                   "</Multichannel></SMB></ProtocolSettings>";
    struct strbuf b = STRBUF_INIT;
    xml_begin_document(&b);
    xml_open(&b, "StorageServiceProperties");
    strbuf_puts(&b, metrics);
    strbuf_puts(&b, grant_of(r)->plane->service == SAS_BLOB ? of_blobs : of_files);
    xml_close(&b, "StorageServiceProperties");
    return reply_text(r, 200, "application/xml", strbuf_take(&b));
}

/* --- user delegation ------------------------------------------------------------------------ */

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
    s.field[SAS_KEY_TENANT] = "adfs";
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
