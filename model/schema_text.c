/* SPDX-License-Identifier: MIT
 *
 * Makes texts for messages: of paths, values and version names.
 */
#include <stdio.h>
#include <string.h>

#include "model/schema_priv.h"

static const struct {
    enum api_version v;
    const char *name;
} versions[] = {
    {V_2017_09_01_PREVIEW, "2017-09-01-preview"},
    {V_2018_03_01, "2018-03-01"},
    {V_2018_05_01, "2018-05-01"},
};
enum { N_VERSIONS = sizeof versions / sizeof versions[0] };

enum api_version api_version_from_name(const char *name)
{
    for (int i = 0; name && i < N_VERSIONS; i++)
        if (strcmp(versions[i].name, name) == 0)
            return versions[i].v;
    return 0;
}

const char *api_version_name(enum api_version v)
{
    for (int i = 0; i < N_VERSIONS; i++)
        if (versions[i].v == v)
            return versions[i].name;
    return "unknown";
}

static size_t place_put(const struct doc_place *at, bool canonical, char *out)
{
    if (!at)
        return 0;
    size_t used = place_put(at->up, canonical, out);
    int n = at->name ? snprintf(out + used, PLACE_SIZE - used, "%s%s", used ? "." : "",
                                canonical ? at->canon : at->name)
                     : snprintf(out + used, PLACE_SIZE - used, "[%zu]", at->index);
    used += n > 0 ? (size_t)n : 0;
    return used < PLACE_SIZE ? used : PLACE_SIZE - 1;
}

void place_text(const struct doc_place *at, bool canonical, char out[PLACE_SIZE])
{
    out[0] = '\0';
    place_put(at, canonical, out);
}

void path_join(char out[PLACE_SIZE], const char *path, const char *child)
{
    snprintf(out, PLACE_SIZE, "%s%s%s", path, *path ? "." : "", child);
}

enum { SHOWN = 60 }; /* how many bytes of a string a message quotes */

/* Writes a string in quotes, with escapes. The output is ASCII, so that shortening it cannot split
 * a character. */
static void string_text(const char *s, size_t len, char out[VALUE_TEXT_SIZE])
{
    size_t used = 0;
    out[used++] = '"';
    for (size_t i = 0; i < len && i < SHOWN; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= ' ' && c < 0x7f)
            out[used++] = (char)c;
        else
            used += (size_t)snprintf(out + used, VALUE_TEXT_SIZE - used, "\\x%02x", c);
    }
    snprintf(out + used, VALUE_TEXT_SIZE - used, "%s\"", len > SHOWN ? "..." : "");
}

const char *value_text(const json_t *value, char out[VALUE_TEXT_SIZE])
{
    static const char *const fixed[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_NULL] = "null",
        [JSON_TRUE] = "true",        [JSON_FALSE] = "false",
    };
    if (json_is_string(value))
        string_text(json_string_value(value), json_string_length(value), out);
    else if (json_is_integer(value))
        snprintf(out, VALUE_TEXT_SIZE, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        snprintf(out, VALUE_TEXT_SIZE, "%g", json_real_value(value));
    else
        snprintf(out, VALUE_TEXT_SIZE, "%s", value ? fixed[json_typeof(value)] : "absent");
    return out;
}
