/* SPDX-License-Identifier: MIT
 *
 * Reads properties from the headers of a request, makes the JSON text of them for the row, and adds
 * them to replies. Texts are the arena's. On the loop's thread.
 */
#include "api/plane/storage/items.h"

#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

/* --- ETags ---------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    return random_next(&(uint64_t){h ^ v});
}

uint64_t item_etag(const struct file_facts *f, const struct share_item *i)
{
    uint64_t h = mix(f->inode, f->size);
    h = mix(h, (uint64_t)f->mtime_ns);
    h = mix(h, i ? (uint64_t)i->revision : 0);
    return (UINT64_C(8) << 56) | (h >> 8); /* 15 digits, as the service's have */
}

int64_t item_modified_us(const struct file_facts *f, const struct share_item *i)
{
    return i->revision > f->mtime_us ? i->revision : f->mtime_us;
}

void item_revise(const struct request *r, struct share_item *i)
{
    i->revision = r->now_us > i->revision ? r->now_us : i->revision + 1;
}

bool item_is_of(const struct share_item *i, const struct file_facts *f)
{
    return i->inode == (int64_t)f->inode && i->size == (int64_t)f->size &&
           i->mtime_ns == f->mtime_ns;
}

bool item_same_file(const struct file_facts *a, const struct file_facts *b)
{
    return a->inode == b->inode && a->size == b->size && a->mtime_ns == b->mtime_ns;
}

void item_set_file(struct share_item *i, const struct file_facts *f)
{
    i->inode = (int64_t)f->inode;
    i->size = (int64_t)f->size;
    i->mtime_ns = f->mtime_ns;
}

void item_follow_file(struct share_item *i, const struct file_facts *f)
{
    if (item_is_of(i, f))
        return;
    i->md5 = NULL;
    if (i->type != BLOB_APPEND) /* for an append blob this is only their number */
        i->blocks = NULL;
    item_set_file(i, f);
}

struct file_facts item_facts(const struct share_item *i)
{
    return (struct file_facts){.size = (uint64_t)i->size,
                               .inode = (uint64_t)i->inode,
                               .mtime_ns = i->mtime_ns,
                               .mtime_us = i->mtime_ns / 1000};
}

int item_load(struct request *r, const char *path, struct share_item *out, struct err *e)
{
    const struct grant *g = grant_of(r);
    int rc = st_item_get(azstorage_of(r)->storage, &r->arena, g->share.id, path, out, e);
    if (rc == 0)
        *out = (struct share_item){
            .share_id = g->share.id, .path = path, .lease_state = LEASE_AVAILABLE};
    return rc < 0 ? -1 : 0;
}

const char *noted_text(struct arena *a, const char *doc, const char *name)
{
    json_auto_t *all = doc ? json_loads(doc, 0, NULL) : NULL;
    const char *value = json_string_value(json_object_get(all, name));
    value = value ? arena_strdup(a, value) : NULL;
    return value;
}

/* --- properties ----------------------------------------------------------------------------- */

static const struct {
    const char *name;       /* name of the reply's header */
    const char *given;      /* name of a request's header after its prefix */
    enum sas_field instead; /* field of a SAS that replaces the value */
} properties[PROPERTIES] = {
    [PROPERTY_TYPE] = {"Content-Type", "content-type", SAS_TYPE},
    [PROPERTY_ENCODING] = {"Content-Encoding", "content-encoding", SAS_ENCODING},
    [PROPERTY_LANGUAGE] = {"Content-Language", "content-language", SAS_LANGUAGE},
    [PROPERTY_DISPOSITION] = {"Content-Disposition", "content-disposition", SAS_DISPOSITION},
    [PROPERTY_CACHE_CONTROL] = {"Cache-Control", "cache-control", SAS_CACHE_CONTROL},
};

/* --- hashes --- */

int md5_read(struct request *r, const char *header, uint8_t out[FILES_MD5], struct err *e)
{
    const char *text = request_header(r, header);
    size_t n;
    if (!text)
        return 0;
    if (sodium_base642bin(out, FILES_MD5, text, strlen(text), NULL, &n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) == 0 &&
        n == FILES_MD5)
        return 1;
    return err_set(e, AZSTORAGE_MD5, header,
                   "The MD5 value specified in the request is invalid: '%.60s'. MD5 value must be "
                   "128 bits and base64-encoded.",
                   text);
}

int md5_given(struct request *r, const char *prefix, const char **out, struct err *e)
{
    uint8_t md5[FILES_MD5];
    const char *header = arena_concat(&r->arena, prefix, "content-md5");
    const char *text = request_header(r, header);
    *out = text && *text ? text : NULL; /* like other properties, an empty one is cleared */
    return *out && md5_read(r, header, md5, e) < 0 ? -1 : 0;
}

/* The first api-version whose replies have a CRC64. */
#define CRC64_SINCE 20190202

void crc64_reply(struct request *r, uint64_t crc64)
{
    uint8_t bytes[sizeof crc64];
    char text[16];
    if (grant_of(r)->version < CRC64_SINCE && !request_header(r, "x-ms-content-crc64"))
        return;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(crc64 >> (8 * i));
    sodium_bin2base64(text, sizeof text, bytes, sizeof bytes, sodium_base64_VARIANT_ORIGINAL);
    reply_header(r, "x-ms-content-crc64", "%s", text);
}

const char *property_given(struct request *r, const char *prefix, const char *name)
{
    char header[64];
    snprintf(header, sizeof header, "%s%s", prefix, name);
    return request_header(r, header);
}

static int read_into(json_t *doc, struct request *r, const char *prefix, bool is_body,
                     struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < PROPERTIES && rc == 0; i++) {
        const char *value = property_given(r, prefix, properties[i].given);
        if (!value && is_body && i == PROPERTY_TYPE)
            value = request_header(r, "Content-Type");
        if (!value || !*value)
            continue;
        if (json_object_set_new(doc, properties[i].name, json_string(value)) < 0)
            rc = err_set(e, AZSTORAGE_HEADER, properties[i].given,
                         "The header %s%s has bytes that are not UTF-8.", prefix,
                         properties[i].given);
    }
    return rc;
}

int properties_read(struct request *r, const char *prefix, bool is_body, const char **out,
                    struct err *e)
{
    json_t *doc = json_object();
    int rc = read_into(doc, r, prefix, is_body, e);
    *out = jsontext_filled_in(&r->arena, doc);
    return rc;
}

int properties_replace(struct request *r, const char *prefix, const char **out, struct err *e)
{
    json_t *doc = json_object();
    int rc = read_into(doc, r, prefix, false, e);
    const char *type = properties[PROPERTY_TYPE].name;
    if (rc == 0 && !json_object_get(doc, type))
        /* "": it has no type, not even the default one */
        json_object_set_new(doc, type, json_string(""));
    *out = jsontext_filled_in(&r->arena, doc);
    return rc;
}

void properties_of(struct arena *a, const char *text, const char *out[PROPERTIES])
{
    json_auto_t *doc = text ? json_loads(text, 0, NULL) : NULL;
    for (size_t k = 0; k < PROPERTIES; k++) {
        const char *value = json_string_value(json_object_get(doc, properties[k].name));
        out[k] = value ? arena_strdup(a, value) : NULL;
    }
}

const char *properties_with_type(struct arena *a, const char *text, const char *type)
{
    json_t *doc = text ? json_loads(text, 0, NULL) : NULL;
    doc = doc ? doc : json_object();
    json_object_set_new(doc, properties[PROPERTY_TYPE].name, json_string(type));
    return jsontext_new_in(a, doc);
}

void properties_reply(struct request *r, const struct share_item *i, const char **type)
{
    const struct grant *g = grant_of(r);
    const char *has[PROPERTIES];
    properties_of(&r->arena, i->properties, has);
    for (size_t k = 0; k < PROPERTIES; k++) {
        const char *value = has[k];
        if (g->how == GRANT_SAS && g->sas.field[properties[k].instead])
            value = g->sas.field[properties[k].instead];
        if (value && k == PROPERTY_TYPE)
            *type = *value ? value : NULL;
        else if (value)
            reply_header_text(r, properties[k].name, value);
    }
}

/* --- the rest ------------------------------------------------------------------------------- */

void item_ticks(int64_t ticks, char out[ITEM_TIME_SIZE])
{
    char seconds[TIMEFMT_SIZE];
    int64_t part = ticks % 10000000;
    part += part < 0 ? 10000000 : 0;
    timefmt_seconds((ticks - part) / 10, seconds);
    seconds[strcspn(seconds, "Z")] = '\0';
    snprintf(out, ITEM_TIME_SIZE, "%s.%07dZ", seconds, (int)part);
}

void item_time(int64_t ns, char out[ITEM_TIME_SIZE])
{
    item_ticks(ns / 100 - (ns % 100 < 0), out);
}

int item_time_read(const char *text, int64_t *us)
{
    static const char form[] = "2019-05-09T01:19:19.6861907Z";
    char seconds[TIMEFMT_SIZE];
    const int point = 19;
    int64_t ticks = 0;
    if (strlen(text) != sizeof form - 1 || text[point] != '.' || text[sizeof form - 2] != 'Z')
        return -1;
    for (const char *p = text + point + 1; *p != 'Z'; p++) {
        if (*p < '0' || *p > '9')
            return -1;
        ticks = 10 * ticks + (*p - '0');
    }
    snprintf(seconds, sizeof seconds, "%.*sZ", point, text);
    if (timefmt_parse(seconds, us) < 0)
        return -1;
    *us = ticks % 10 == 0 ? *us + ticks / 10 : INT64_MAX;
    return 0;
}
