/* SPDX-License-Identifier: MIT
 *
 * The notes (headers, metadata, tags) of a file or blob in a seed and in a dump.
 */
#include <sodium.h>
#include <string.h>

#include "api/plane/storage/beside.h"
#include "api/testing/seed/steps.h"
#include "lib/jsontext.h"
#include "model/metadata.h"
#include "storage/storage.h"

#define APPEND_BLOB "AppendBlob"

static const char *const headers[] = {"Content-Type", "Content-Encoding", "Content-Language",
                                      "Content-Disposition", "Cache-Control"};

/* --- checks ----------------------------------------------------------------------------------- */

/* Whether `name` is a header with which clients set a property of a file or blob. */
static bool is_header(const char *name)
{
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (strcmp(headers[i], name) == 0)
            return true;
    return false;
}

static bool header_ok(const char *name, const json_t *v)
{
    return is_header(name) && metadata_value_ok(json_string_value(v));
}

static bool property_ok(const char *name, const json_t *v)
{
    if (strcmp(name, BESIDE_TIER) == 0)
        return beside_tier_is_known(json_string_value(v));
    return strcmp(name, BESIDE_SEALED) == 0 ? json_is_true(v) : header_ok(name, v);
}

static bool metadata_ok(const char *name, const json_t *v)
{
    return metadata_name_shown(name) && metadata_value_ok(json_string_value(v));
}

static bool tag_ok(const char *name, const json_t *v)
{
    return *name && metadata_value_ok(json_string_value(v));
}

static bool type_ok(const char *name, const json_t *v)
{
    (void)name;
    const char *type = json_string_value(v);
    return type && (strcmp(type, APPEND_BLOB) == 0 || strcmp(type, "BlockBlob") == 0);
}

static bool text_ok(const char *name, const json_t *v)
{
    (void)name;
    return json_is_string(v);
}

/* Whether the value is an MD5 as its header contains it: 16 bytes as base64. */
static bool md5_ok(const char *name, const json_t *v)
{
    unsigned char md5[16];
    size_t n = 0;
    (void)name;
    return json_is_string(v) &&
           sodium_base642bin(md5, sizeof md5, json_string_value(v), json_string_length(v), NULL, &n,
                             NULL, sodium_base64_VARIANT_ORIGINAL) == 0 &&
           n == sizeof md5;
}

#define BLOBS  (1U << SEED_BLOBS)
#define SHARES (1U << SEED_SHARE_FILES)
#define TASKS  (1U << SEED_TASK_FILES)
#define HEADERS                                                                                    \
    "Content-Type, Content-Encoding, Content-Language, Content-Disposition and Cache-Control"

/* `each`: the note is an object, and the check is of its members. */
static const struct seed_note {
    const char *name;
    bool each;
    unsigned in; /* kinds of files that may have it */
    bool (*ok)(const char *name, const json_t *v);
    const char *right;
} notes[] = {
    {"text", false, BLOBS | SHARES | TASKS, text_ok, "a text"},
    {"base64", false, BLOBS | SHARES | TASKS, text_ok, "a text"},
    {"properties", true, SHARES, header_ok, "texts by " HEADERS},
    {"properties", true, BLOBS, property_ok,
     "texts by " HEADERS "; " BESIDE_TIER " Hot, Cool, Cold or Archive; " BESIDE_SEALED " true"},
    {"metadata", true, BLOBS | SHARES, metadata_ok, "texts by names of letters, digits and _"},
    {"tags", true, BLOBS, tag_ok, "texts by name"},
    {"contentMD5", false, BLOBS | SHARES, md5_ok, "16 bytes as base64"},
    {"type", false, BLOBS, type_ok, "BlockBlob or " APPEND_BLOB},
};

static const struct seed_note *note_of(const char *name, enum seed_files what)
{
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (strcmp(notes[i].name, name) == 0 && notes[i].in & 1U << what)
            return &notes[i];
    return NULL;
}

static bool note_ok(const struct seed_note *n, const json_t *v)
{
    const char *name;
    json_t *one;
    if (!n->each)
        return n->ok("", v);
    json_object_foreach((json_t *)v, name, one) {
        if (!n->ok(name, one))
            return false;
    }
    return json_is_object(v);
}

int seed_note_check(const char *path, const json_t *v, enum seed_files what, struct err *e)
{
    const char *name;
    json_t *one;
    json_object_foreach((json_t *)v, name, one) {
        const struct seed_note *n = note_of(name, what);
        if (!n)
            return err_set(e, ERR_INVALID_PROPERTY, NULL,
                           "'%.200s' has '%.60s', which is not known.", path, name);
        if (!note_ok(n, one))
            return err_set(e, ERR_INVALID_PROPERTY, NULL, "%s of '%.200s' must be %s.", name, path,
                           n->right);
    }
    return 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

static const char *text_of(struct arena *a, const struct seed_folder *f, const json_t *v)
{
    if (json_object_size(v) == 0)
        return NULL;
    char *text = jsontext(v);
    const char *kept = seed_filled(a, text, f->step->subscription);
    free(text);
    return kept;
}

static enum blob_type type_of(const json_t *v, enum seed_files what)
{
    const char *type = json_string_value(json_object_get(v, "type"));
    if (what != SEED_BLOBS)
        return BLOB_NONE;
    return type && strcmp(type, APPEND_BLOB) == 0 ? BLOB_APPEND : BLOB_BLOCK;
}

static bool has_notes(const json_t *v)
{
    return json_object_size(v) > 1;
}

int seed_notes_write(struct storage *st, struct arena *a, const struct seed_folder *f,
                     int64_t now_us, struct err *e)
{
    const char *path;
    json_t *v;
    const struct seed_written *w = f->written;
    json_object_foreach((json_t *)f->files, path, v) {
        const struct share_item i = {.share_id = f->share_id,
                                     .path = path,
                                     .aside = *w->aside ? w->aside : NULL,
                                     .type = type_of(v, f->what),
                                     .inode = w->inode,
                                     .size = w->size,
                                     .mtime_ns = w->mtime_ns,
                                     .revision = now_us,
                                     .properties = text_of(a, f, json_object_get(v, "properties")),
                                     .metadata = text_of(a, f, json_object_get(v, "metadata")),
                                     .tags = text_of(a, f, json_object_get(v, "tags")),
                                     .md5 = json_string_value(json_object_get(v, "contentMD5")),
                                     .lease_state = LEASE_AVAILABLE,
                                     .created_us = now_us};
        if ((has_notes(v) || i.aside) && st_item_put(st, &i, e) < 0)
            return -1;
        w++;
    }
    return 0;
}

/* --- in a dump -------------------------------------------------------------------------------- */

static void add_text(json_t *to, const char *name, const char *json)
{
    json_t *v = json ? json_loads(json, 0, NULL) : NULL;
    if (v)
        json_object_set_new(to, name, v);
}

/* Adds the properties of a row, except those that a seed cannot contain: times and attributes of
 * files, rehydrations. */
static void add_properties(json_t *to, const char *json)
{
    const char *name;
    json_t *one;
    void *next;
    json_auto_t *v = json ? json_loads(json, 0, NULL) : NULL;
    json_object_foreach_safe(v, next, name, one) {
        if (!property_ok(name, one))
            json_object_del(v, name);
    }
    if (json_object_size(v) > 0)
        json_object_set(to, "properties", v);
}

void seed_notes_add(json_t *files, const struct share_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct share_item *x = &items[i];
        json_t *v = json_object_get(files, x->path);
        bool plain =
            !x->properties && !x->metadata && !x->tags && !x->md5 && x->type != BLOB_APPEND;
        if (!v || plain)
            continue;
        if (json_is_string(v)) {
            json_object_set_new(files, x->path, json_pack("{s:O}", "text", v));
            v = json_object_get(files, x->path);
        }
        add_properties(v, x->properties);
        add_text(v, "metadata", x->metadata);
        add_text(v, "tags", x->tags);
        if (x->md5)
            json_object_set_new(v, "contentMD5", json_string(x->md5));
        if (x->type == BLOB_APPEND)
            json_object_set_new(v, "type", json_string(APPEND_BLOB));
    }
}
