/* SPDX-License-Identifier: MIT
 *
 * The settings of an account's blob service and file service: stored and shown as the client gave
 * them. Some settings exist only in the data plane (api/plane/storage/service_settings.h).
 */
#include <stdlib.h>

#include "api/arm/kind.h"
#include "api/arm/storage/account.h"
#include "api/arm/storage/routes.h"
#include "api/arm/storage/storage_rm.h"
#include "api/plane/storage/service_settings.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

/* bytes; the service accepts five CORS rules of a few kilobytes */
#define SETTINGS_MAX (64 * 1024)

/* One of the two services: its name in paths, its default settings, and whether it is the blob
 * service. */
struct service_words {
    const char *collection, *usual;
    bool blob;
};
static const struct service_words blobs = {
    "blobServices", "{\"cors\":{\"corsRules\":[]},\"deleteRetentionPolicy\":{\"enabled\":false}}",
    true};
static const struct service_words files = {
    "fileServices",
    "{\"cors\":{\"corsRules\":[]},\"shareDeleteRetentionPolicy\":{\"enabled\":false}}", false};

static const char **column(struct storage_account *s, const struct service_words *w)
{
    return w->blob ? &s->blob_service : &s->file_service;
}

static json_t *render(struct request *r, struct storage_account *s, const struct service_words *w)
{
    json_auto_t *set = *column(s, w) ? json_loads(*column(s, w), 0, NULL) : NULL;
    json_t *properties = json_loads(w->usual, 0, NULL);
    json_object_update(properties, set);
    json_object_del(properties, SETTINGS_OWN);
    return json_pack("{s:o, s:s, s:s, s:o, s:o}", "id",
                     json_sprintf("%s/%s/default", account_id(r, s), w->collection), "name",
                     "default", "type",
                     arena_printf(&r->arena, "Microsoft.Storage/storageAccounts/%s", w->collection),
                     "sku", account_sku(s), "properties", properties);
}

static struct replied *get(struct request *r, const struct service_words *w)
{
    struct err e;
    struct storage_account s;
    if (find_made_account(r, &s, &e) < 0)
        return reply_err(r, &e);
    return reply_json(r, 200, render(r, &s, w));
}

static struct replied *list(struct request *r, const struct service_words *w)
{
    struct err e;
    struct storage_account s;
    if (find_made_account(r, &s, &e) < 0)
        return reply_err(r, &e);
    return reply_json(r, 200, json_pack("{s:[o]}", "value", render(r, &s, w)));
}

static int store(struct request *r, struct storage_account *s, const struct service_words *w,
                 const char *text, struct err *e)
{
    *column(s, w) = text;
    s->updated_us = r->now_us;
    return st_account_update(arm_of(r)->storage, s, e);
}

/* Removes SMB settings whose text is empty: an empty text resets a setting to its default, and
 * defaults are not shown. */
static void drop_blank_settings(json_t *properties)
{
    const char *name;
    void *next;
    json_t *protocols = json_object_get(properties, "protocolSettings"), *value;
    json_t *smb = json_object_get(protocols, "smb");
    json_object_foreach_safe(smb, next, name, value) {
        if (json_is_string(value) && json_string_length(value) == 0)
            json_object_del(smb, name);
    }
    if (smb && json_object_size(smb) == 0)
        json_object_del(protocols, "smb");
    if (protocols && json_object_size(protocols) == 0)
        json_object_del(properties, "protocolSettings");
}

/* The settings to store: the given ones, and those in `was` that only the data plane can change. */
static char *text_with_own(const json_t *properties, const char *was)
{
    json_auto_t *doc = json_deep_copy(properties);
    drop_blank_settings(doc);
    json_auto_t *old = was ? json_loads(was, 0, NULL) : NULL;
    json_object_del(doc, SETTINGS_OWN);
    json_object_set(doc, SETTINGS_OWN, json_object_get(old, SETTINGS_OWN));
    return jsontext(doc);
}

static struct replied *put(struct request *r, const struct service_words *w)
{
    struct err e;
    struct storage_account s;
    const json_t *properties = json_object_get(r->body, "properties");
    if (find_made_account(r, &s, &e) < 0)
        return reply_err(r, &e);
    if (!json_is_object(properties) || r->raw.len > SETTINGS_MAX) {
        err_set(&e, ERR_INVALID_PROPERTY, "properties",
                "properties must be an object, and the body have at most %d bytes", SETTINGS_MAX);
        return reply_err(r, &e);
    }
    char *text = text_with_own(properties, *column(&s, w));
    int rc = store(r, &s, w, text, &e);
    struct replied *done = rc < 0 ? reply_err(r, &e) : reply_json(r, 200, render(r, &s, w));
    free(text);
    return done;
}

struct replied *blob_services_list(struct request *r)
{
    return list(r, &blobs);
}

struct replied *blob_services_get(struct request *r)
{
    return get(r, &blobs);
}

struct replied *blob_services_put(struct request *r)
{
    return put(r, &blobs);
}

struct replied *file_services_list(struct request *r)
{
    return list(r, &files);
}

struct replied *file_services_get(struct request *r)
{
    return get(r, &files);
}

struct replied *file_services_put(struct request *r)
{
    return put(r, &files);
}
