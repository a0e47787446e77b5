/* SPDX-License-Identifier: MIT
 *
 * x-ms-meta-NAME: VALUE, the metadata of stored objects. Names keep the spelling of the request.
 * https://learn.microsoft.com/rest/api/storageservices/setting-and-retrieving-properties-and-metadata-for-blob-resources
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/plane/storage/data_plane.h"
#include "api/plane/storage/listing.h"
#include "api/plane/storage/xml_write.h"
#include "lib/jsontext.h"
#include "model/metadata.h"

#define PREFIX       "x-ms-meta-"
#define METADATA_MAX (8 * 1024) /* bytes of all names and values together */

struct metadata_reading {
    json_t *doc;
    size_t bytes;
    struct err *e;
};

static int take(struct metadata_reading *m, const char *name, const char *value)
{
    if (!*name)
        return err_set(m->e, AZSTORAGE_METADATA_EMPTY, NULL,
                       "The key for one of the metadata key-value pairs is empty.");
    if (!metadata_name_ok(name) || !metadata_value_ok(value))
        return err_set(m->e, AZSTORAGE_METADATA, NULL,
                       "The metadata specified is invalid: '%.60s'. Names have letters, digits and "
                       "_, and do not begin with a digit; values are text.",
                       name);
    m->bytes += strlen(name) + strlen(value);
    if (m->bytes > METADATA_MAX)
        return err_set(m->e, AZSTORAGE_METADATA_SIZE, NULL, "The metadata is larger than %d bytes.",
                       METADATA_MAX);
    json_object_set_new(m->doc, name, json_string(value));
    return 0;
}

/* Skips a header "x-ms-meta" without a name, which az sends. */
int metadata_read(struct request *r, const char **out, struct err *e)
{
    struct metadata_reading m = {.doc = request_own(r, json_object()), .e = e};
    size_t n, prefix = strlen(PREFIX);
    const struct named_value *h = request_headers(r, &n);
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        if (strncasecmp(h[i].name, PREFIX, prefix) == 0)
            rc = take(&m, h[i].name + prefix, h[i].value);
    *out = json_object_size(m.doc) > 0 && rc == 0 ? request_own_text(r, jsontext(m.doc)) : NULL;
    return rc;
}

/* Whether a stored name and its value are valid; rows that other programs have written may have any
 * content. */
static bool says(const char *name, const json_t *value)
{
    return metadata_name_shown(name) && metadata_value_ok(json_string_value(value));
}

void metadata_reply(struct request *r, const char *metadata)
{
    json_auto_t *doc = metadata ? json_loads(metadata, 0, NULL) : NULL;
    const char *name;
    json_t *value;
    json_object_foreach(doc, name, value)
        if (says(name, value))
            reply_header_text(r, arena_concat(&r->arena, PREFIX, name),
                              arena_strdup(&r->arena, json_string_value(value)));
}

void metadata_list(struct strbuf *b, const char *metadata)
{
    json_auto_t *doc = metadata ? json_loads(metadata, 0, NULL) : NULL;
    json_t *value;
    const char *name;
    if (!doc) {
        xml_element(b, "Metadata", NULL);
        return;
    }
    xml_open(b, "Metadata");
    json_object_foreach(doc, name, value)
        if (says(name, value))
            xml_element(b, name, json_string_value(value));
    xml_close(b, "Metadata");
}
