/* SPDX-License-Identifier: MIT
 *
 * The engine's way out, and what compares and completes stored documents.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/home.h"
#include "model/schema_priv.h"

static json_t *render_object(const struct schema *s, enum api_version v, const json_t *doc);

static json_t *render_array(const struct field *f, enum api_version v, const json_t *in)
{
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(in); i++) {
        const json_t *item = json_array_get(in, i);
        if (json_is_object(item))
            json_array_append_new(list, render_object(f->sub, v, item));
    }
    return list;
}

static bool fits(const struct field *f, const json_t *in)
{
    switch (f->kind) {
    case FIELD_ENUM: /* a value of a newer version may be none of this one's */
        return json_is_string(in) && enum_from_name(f->values, json_string_value(in)) != 0;
    case FIELD_STRING:
    case FIELD_DURATION:
    case FIELD_TIME:
        return json_is_string(in);
    case FIELD_INT:
        return json_is_integer(in);
    case FIELD_BOOL:
        return json_is_boolean(in);
    case FIELD_OBJECT:
    case FIELD_MAP:
        return json_is_object(in);
    case FIELD_ARRAY:
    case FIELD_STRINGS:
        return json_is_array(in);
    }
    return false;
}

static json_t *render_id(enum api_version v, json_t *in)
{
    char *id = v & V_FLAT ? home_short_id(json_string_value(in)) : NULL;
    json_t *out = id ? json_string_nocheck(id) : json_incref(in);
    free(id);
    return out;
}

/* Leaves are shared with the document: nobody changes them. */
static json_t *render_value(const struct field *f, enum api_version v, json_t *in)
{
    if (!fits(f, in))
        return NULL;
    if (f->kind == FIELD_OBJECT)
        return render_object(f->sub, v, in);
    if (f->kind == FIELD_ARRAY)
        return render_array(f, v, in);
    return f->flags & FIELD_ID ? render_id(v, in) : json_incref(in);
}

static bool is_empty(const json_t *v)
{
    return (json_is_object(v) && json_object_size(v) == 0) ||
           (json_is_array(v) && json_array_size(v) == 0);
}

static json_t *render_object(const struct schema *s, enum api_version v, const json_t *doc)
{
    const unsigned hidden = FIELD_SECRET | FIELD_INPUT_ONLY | FIELD_DISCARD;
    json_t *out = json_object();
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct field *f = &s->fields[i];
        json_t *in = json_object_get(doc, field_canon(f));
        if ((f->flags & hidden) || !field_known(f, v))
            continue;
        if (!in) {
            if (f->flags & FIELD_ALWAYS)
                json_object_set_new_nocheck(out, f->name, json_string_nocheck(""));
            continue;
        }
        json_t *value = render_value(f, v, in);
        if (!value)
            continue;
        if (is_empty(value) && !(f->flags & FIELD_KEEP_EMPTY))
            json_decref(value);
        else
            json_object_set_new_nocheck(out, f->name, value);
    }
    return out;
}

json_t *schema_render(const struct schema *s, enum api_version v, const json_t *doc)
{
    return render_object(s, v, doc);
}

static void take_from_field(const struct field *f, json_t *obj, json_t *value,
                            const struct place *at, json_t **secrets)
{
    if (f->flags & FIELD_SECRET) {
        char path[PLACE_SIZE];
        place_text(at, true, path);
        if (!*secrets)
            *secrets = json_object();
        json_object_set_nocheck(*secrets, path, value);
        json_object_del(obj, at->canon);
    } else if (f->kind == FIELD_OBJECT) {
        schema_take_secrets(f->sub, value, at, secrets);
    } else if (f->kind == FIELD_ARRAY) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            const struct place item = {.up = at, .index = i};
            schema_take_secrets(f->sub, json_array_get(value, i), &item, secrets);
        }
    }
}

void schema_take_secrets(const struct schema *s, json_t *obj, const struct place *at,
                         json_t **secrets)
{
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct field *f = &s->fields[i];
        const char *canon = field_canon(f);
        json_t *value = json_object_get(obj, canon);
        const struct place here = {.up = at, .name = f->name, .canon = canon};
        if (value)
            take_from_field(f, obj, value, &here, secrets);
    }
}

/* One step of a path such as "secrets[0]" down from `at`; *path is moved past it. */
static json_t *step_down(json_t *at, const char **path)
{
    char name[PLACE_SIZE];
    size_t n = strcspn(*path, ".[");
    if (n >= sizeof name)
        return NULL;
    memcpy(name, *path, n);
    name[n] = '\0';
    at = json_object_get(at, name);
    *path += n;
    while (**path == '[') {
        char *end;
        at = json_array_get(at, strtoul(*path + 1, &end, 10));
        *path = *end == ']' ? end + 1 : end;
    }
    if (**path == '.')
        (*path)++;
    return at;
}

static void put_secret(json_t *doc, const char *path, json_t *value)
{
    const char *last = strrchr(path, '.');
    const char *name = last ? last + 1 : path;
    json_t *at = doc;
    while (at && path < name)
        at = step_down(at, &path);
    if (at)
        json_object_set_nocheck(at, name, value);
}

json_t *schema_merge_secrets(const json_t *doc, const json_t *secrets)
{
    json_t *copy = json_deep_copy(doc);
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)secrets, path, value)
        put_secret(copy, path, value);
    return copy;
}

struct changes {
    enum api_version v;
    char *list;
    size_t size, used;
    int n;
};

static void add_change(struct changes *c, const struct place *at)
{
    char path[PLACE_SIZE];
    place_text(at, false, path);
    if (c->used < c->size) {
        int n = snprintf(c->list + c->used, c->size - c->used, "%s%s", c->n ? ", " : "", path);
        c->used += n > 0 ? (size_t)n : 0;
    }
    c->n++;
}

static void compare_objects(const struct schema *s, const json_t *a, const json_t *b,
                            const struct place *up, struct changes *c)
{
    const unsigned skipped =
        FIELD_MUTABLE | FIELD_READONLY | FIELD_SECRET | FIELD_INPUT_ONLY | FIELD_DISCARD;
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct field *f = &s->fields[i];
        const char *canon = field_canon(f);
        const json_t *x = json_object_get(a, canon), *y = json_object_get(b, canon);
        if ((f->flags & skipped) || !field_known(f, c->v) || (!x && !y) ||
            (x && y && json_equal(x, y)))
            continue;
        const struct place at = {.up = up, .name = f->name, .canon = canon};
        if (f->kind == FIELD_OBJECT && json_is_object(x) && json_is_object(y))
            compare_objects(f->sub, x, y, &at, c);
        else
            add_change(c, &at);
    }
}

int schema_immutable_changes(const struct schema *s, enum api_version v, const json_t *before,
                             const json_t *after, char *list, size_t size)
{
    struct changes c = {.v = v, .list = list, .size = size};
    if (size)
        list[0] = '\0';
    compare_objects(s, before, after, NULL, &c);
    return c.n;
}
