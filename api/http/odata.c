/* SPDX-License-Identifier: MIT
 *
 * Resolves paths by the table of the listed resource, then applies the parsed filter
 * (model/filter.h) to items in JSON form. Memory is the arena's. Called only on the loop's thread.
 */
#include "api/http/odata.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 160

static const struct field *row_of(const struct schema *s, enum api_version v, const char *name,
                                  size_t n)
{
    const unsigned hidden = FIELD_SECRET | FIELD_INPUT_ONLY | FIELD_DISCARD;
    for (size_t i = 0; s && i < s->n_fields; i++) {
        const struct field *f = &s->fields[i];
        bool known = f->versions == 0 || (f->versions & (unsigned)v);
        if (known && !(f->flags & hidden) && strlen(f->name) == n &&
            strncasecmp(f->name, name, n) == 0)
            return f;
    }
    return NULL;
}

/* Writes the path [s, s + n) into `out` in the table's spelling, with "properties/" if it is
 * missing. False: the table has no such property. */
static bool resolve(const struct odata *o, const char *s, size_t n, char out[WORD_MAX])
{
    const struct field *properties = row_of(o->schema, o->version, "properties", 10);
    const struct schema *level = o->schema;
    size_t used = 0, first = strcspn(s, "/");
    if (first > n)
        first = n;
    if (!row_of(level, o->version, s, first) && properties) {
        level = properties->sub;
        used = (size_t)snprintf(out, WORD_MAX, "properties");
    }
    for (const char *end = s + n; s < end; s++) {
        size_t len = strcspn(s, "/");
        if (len > (size_t)(end - s))
            len = (size_t)(end - s);
        const struct field *f = row_of(level, o->version, s, len);
        if (!f || used + strlen(f->name) + 2 > WORD_MAX)
            return false;
        used += (size_t)snprintf(out + used, WORD_MAX - used, "%s%s", used ? "/" : "", f->name);
        level = f->sub;
        s += len;
    }
    return used > 0;
}

static json_t *value_at(const json_t *item, const char *path)
{
    json_t *v = (json_t *)(uintptr_t)item;
    char name[WORD_MAX];
    while (v && *path) {
        size_t n = strcspn(path, "/");
        assert(n < sizeof name); /* path is from resolve() */
        memcpy(name, path, n);
        name[n] = '\0';
        v = json_object_get(v, name);
        path += n + (path[n] == '/');
    }
    return v;
}

static size_t path_length(const char *s)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || (s[n] && strchr("_/", s[n])))
        n++;
    return n;
}

static bool find_path(void *ctx, const char *s, size_t n, struct filter_term *out)
{
    const struct odata *o = ctx;
    char path[WORD_MAX];
    if (!resolve(o, s, n, path))
        return false;
    out->path = arena_strdup(o->arena, path);
    return true;
}

/* Whether the value fulfills the comparison. A value that is missing or has another type equals
 * only null. */
static bool compare(const json_t *v, const struct filter_term *t)
{
    double number = json_number_value(v);
    if (json_is_number(v))
        return filter_number_is(t, &number);
    if (json_is_boolean(v))
        return filter_bool_is(t, json_is_true(v));
    if (json_is_string(v) || !v)
        return filter_text_is(t, json_string_value(v));
    return t->op == FILTER_NE;
}

static bool term_holds(const void *ctx, const struct filter_term *t)
{
    return compare(value_at(ctx, t->path), t);
}

static int check_filter(struct odata *o, struct err *e)
{
    const struct filter_paths paths = {.find = find_path, .ctx = o};
    return filter_parse(o->filter, &paths, o->arena, &o->tree, &o->terms, e);
}

/* Reads the next path of $select; false: there is none. *ok: whether the path names a property. */
static bool next_selected(const struct odata *o, const char **at, char path[WORD_MAX], bool *ok)
{
    while (**at == ' ' || **at == ',')
        (*at)++;
    if (!**at)
        return false;
    size_t n = strcspn(*at, ", ");
    path[0] = '\0';
    *ok = path_length(*at) == n && resolve(o, *at, n, path);
    *at += n;
    return true;
}

static int check_select(const struct odata *o, struct err *e)
{
    char path[WORD_MAX];
    bool ok = true;
    const char *at = o->select;
    while (ok && next_selected(o, &at, path, &ok))
        ;
    if (ok)
        return 0;
    return err_set(e, ERR_INVALID_QUERY, "$select",
                   "$select is '%.200s'; it must be a comma-separated list of properties, such as "
                   "name,properties/vmSize.",
                   o->select);
}

int odata_check(struct odata *o, struct err *e)
{
    if (o->filter && check_filter(o, e) < 0)
        return -1;
    return o->select ? check_select(o, e) : 0;
}

bool odata_matches(const struct odata *o, const json_t *item)
{
    assert(!o->filter || o->tree); /* odata_check() has parsed the filter */
    return !o->filter || filter_holds(o->tree, term_holds, item);
}

bool odata_matches_tags(const struct odata *o, json_t *item, const json_t *tags)
{
    const char *name;
    json_t *value;
    bool found = json_object_size(tags) == 0 && odata_matches(o, item);
    json_object_foreach((json_t *)(uintptr_t)tags, name, value) {
        json_object_set_new(item, "tagName", json_string(name));
        json_object_set(item, "tagValue", value);
        found = found || odata_matches(o, item);
    }
    return found;
}

/* Copies the value at `path` from `item` to the same place in `out`. */
static void copy_path(const json_t *item, const char *path, json_t *out)
{
    char name[WORD_MAX];
    json_t *value = value_at(item, path);
    if (!value)
        return;
    for (size_t n; n = strcspn(path, "/"), path[n] == '/'; path += n + 1) {
        memcpy(name, path, n);
        name[n] = '\0';
        json_t *inner = json_object_get(out, name);
        if (!inner) {
            inner = json_object();
            json_object_set_new(out, name, inner);
        }
        out = inner;
    }
    json_object_set(out, path, value);
}

json_t *odata_pick(const struct odata *o, json_t *item)
{
    char path[WORD_MAX];
    bool ok = true;
    const char *at = o->select;
    if (!at || !*at)
        return item;
    json_auto_t *whole = item;
    json_t *out = json_object();
    while (next_selected(o, &at, path, &ok))
        copy_path(whole, path, out);
    return out;
}
