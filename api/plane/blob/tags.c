/* SPDX-License-Identifier: MIT
 *
 * Tags of blobs.
 * https://learn.microsoft.com/rest/api/storageservices/set-blob-tags
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/url.h"
#include "api/http/xml.h"
#include "api/plane/blob/handlers.h"
#include "api/plane/blob/tag_words.h"
#include "api/plane/storage/xml_write.h"
#include "lib/jsontext.h"
#include "storage/storage.h"

#define TAGS_MAX  10
#define TAG_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 +-./:=_"

static int add_tag(json_t *tags, const char *key, const char *value, struct err *e)
{
    size_t n = key ? strlen(key) : 0, m = value ? strlen(value) : 0;
    if (n < 1 || n > TAG_NAME_MAX || m > TAG_VALUE_MAX || key[strspn(key, TAG_CHARS)] ||
        (value && value[strspn(value, TAG_CHARS)]))
        return err_set(e, AZSTORAGE_TAGS, NULL,
                       "The tags specified are invalid: '%.60s'. A key has 1 to %d characters, a "
                       "value at most %d: letters, digits, space and + - . / : = _",
                       key ? key : "", TAG_NAME_MAX, TAG_VALUE_MAX);
    if (json_object_get(tags, key))
        return err_set(e, AZSTORAGE_TAGS, NULL,
                       "The tags specified are invalid: '%.60s' is given twice.", key);
    json_object_set_new(tags, key, json_string(value ? value : ""));
    if (json_object_size(tags) <= TAGS_MAX)
        return 0;
    return err_set(e, AZSTORAGE_TAGS_SIZE, NULL,
                   "The tags specified exceed the maximum permissible limit: %d.", TAGS_MAX);
}

/* Reads the header x-ms-tags: "a=b&c=d", encoded as in a form. */
int tags_read_header(struct request *r, const char **out, struct err *e)
{
    const char *p = request_header(r, "x-ms-tags");
    json_t *tags = json_object();
    int rc = p ? plane_check_tags(r, e) : 0;
    while (p && *p && rc == 0) {
        size_t n = strcspn(p, "&"), key = strcspn(p, "=");
        key = key < n ? key : n;
        const char *value = key < n ? url_decode_form(&r->arena, p + key + 1, n - key - 1) : "";
        rc = add_tag(tags, url_decode_form(&r->arena, p, key), value ? value : "\n", e);
        p += n + (p[n] == '&');
    }
    *out = jsontext_filled_in(&r->arena, tags);
    return rc;
}

static int read_xml(struct request *r, const char **out, struct err *e)
{
    const struct xml *set = r->xml ? xml_child(r->xml, "TagSet") : NULL;
    json_t *tags = json_object();
    int rc = 0;
    for (const struct xml *x = set ? set->child : NULL; x && rc == 0; x = x->next)
        rc = add_tag(tags, xml_text(x, "Key"), xml_text(x, "Value"), e);
    *out = jsontext_filled_in(&r->arena, tags);
    return rc;
}

int tags_count(const struct share_item *i)
{
    json_auto_t *tags = i->tags ? json_loads(i->tags, 0, NULL) : NULL;
    return (int)json_object_size(tags);
}

void tags_write_asked(struct strbuf *b, json_t *tags, const struct tag_where *asked)
{
    json_t *value;
    const char *key;
    xml_open(b, "Tags");
    xml_open(b, "TagSet");
    json_object_foreach(tags, key, value) {
        if (asked && !tag_where_names(asked, key))
            continue;
        xml_open(b, "Tag");
        xml_element(b, "Key", key);
        xml_element(b, "Value", json_string_value(value));
        xml_close(b, "Tag");
    }
    xml_close(b, "TagSet");
    xml_close(b, "Tags");
}

void tags_write(struct strbuf *b, const char *text)
{
    json_auto_t *tags = text ? json_loads(text, 0, NULL) : NULL;
    tags_write_asked(b, tags, NULL);
}

static void refuse(struct blob_work *w, const struct err *e)
{
    blob_finish(w, reply_err(w->r, e));
}

/* Keeps the ETag, because tags are not part of the blob's content. */
static void set_tags(struct blob_work *w, const struct file_facts *f)
{
    struct err e;
    (void)f;
    if (read_xml(w->r, &w->item.tags, &e) < 0 ||
        st_item_put(azstorage_of(w->r)->storage, &w->item, &e) < 0)
        refuse(w, &e);
    else
        blob_finish(w, reply_empty(w->r, 204));
}

struct replied *azblob_set_tags(struct request *r)
{
    struct err e;
    if (blob_check_body(r, &e) < 0)
        return reply_err(r, &e);
    return blob_change(r, set_tags);
}

static void show_tags(struct blob_work *w, const struct file_facts *f)
{
    struct strbuf b = STRBUF_INIT;
    (void)f;
    xml_begin_document(&b);
    tags_write(&b, w->item.tags);
    blob_finish(w, reply_text(w->r, 200, "application/xml", strbuf_take(&b)));
}

struct replied *azblob_get_tags(struct request *r)
{
    return blob_look(r, show_tags);
}
