/* SPDX-License-Identifier: MIT
 *
 * Expressions by which blobs are found: a line, and then the tags of a blob as a JSON object. Each
 * is a condition too, unless it names a container, and then both say the same of the tags. What
 * holds is in the part of the index that is read.
 */
#include <jansson.h>

#include "api/plane/blob/tag_words.h"
#include "test/fuzz/fuzz.h"

/* A place in the order of values and paths. */
static int compare(const char *value, const char *path, const char *value2, const char *path2)
{
    int order = strcmp(value, value2);
    return order ? order : strcmp(path, path2);
}

static void look(const struct tag_where *w, const json_t *tags)
{
    const struct tag_range r = tag_where_range(w);
    const char *value = json_string_value(json_object_get(tags, r.name));
    CLAIM(tag_where_names(w, r.name));
    if (!tag_where_holds(w, tags))
        return;
    CLAIM(value);
    CLAIM(compare(value, "p", r.after_value, r.after_path) > 0);
    CLAIM(compare(value, "p", r.to_value, r.to_path) < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces in = {(const char *)data, (const char *)data + size};
    char *text = next_line(&in);
    json_t *tags = json_loadb(in.p, (size_t)(in.end - in.p), 0, NULL);
    static struct tag_where w;
    struct err e = {0}, ignored;
    int rc = tag_where_read(text, &w, &e);
    tell("expression", rc, e.msg);
    CLAIM(rc == 0 || (rc == -1 && e.msg[0]));
    if (rc == 0) {
        CLAIM(w.n >= 1 && w.n <= TAG_WHERE_MAX);
        look(&w, tags);
        CLAIM(w.has_container ||
              tag_words_hold(text, tags, &ignored) == (int)tag_where_holds(&w, tags));
    }
    json_decref(tags);
    free(text);
    return 0;
}
