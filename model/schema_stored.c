/* SPDX-License-Identifier: MIT
 *
 * Moves secrets out of documents and back, compares documents, and reduces a reply to the
 * properties that a request may contain.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/schema_priv.h"

static void take_from_field(const struct field *f, json_t *obj, json_t *value,
                            const struct doc_place *at, json_t **secrets)
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
            const struct doc_place item = {.up = at, .index = i};
            schema_take_secrets(f->sub, json_array_get(value, i), &item, secrets);
        }
    }
}

void schema_take_secrets(const struct schema *s, json_t *obj, const struct doc_place *at,
                         json_t **secrets)
{
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct field *f = &s->fields[i];
        const char *canon = field_canon(f);
        if (!(f->flags & FIELD_SECRET) && !f->sub)
            continue;
        json_t *value = json_object_get(obj, canon);
        const struct doc_place here = {.up = at, .name = f->name, .canon = canon};
        if (value)
            take_from_field(f, obj, value, &here, secrets);
    }
}

/* Returns the member or item of `at` that the first step of a path such as "secrets[0]" names, and
 * moves *path past the step. */
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

void schema_put_secrets(json_t *doc, const json_t *secrets)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)secrets, path, value)
        put_secret(doc, path, value);
}

json_t *schema_merge_secrets(const json_t *doc, const json_t *secrets)
{
    json_t *copy = json_deep_copy(doc);
    schema_put_secrets(copy, secrets);
    return copy;
}

struct changes {
    enum api_version v;
    char *list;
    size_t size, used;
    int n;
};

static void add_change(struct changes *c, const struct doc_place *at)
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
                            const struct doc_place *up, struct changes *c)
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
        const struct doc_place at = {.up = up, .name = f->name, .canon = canon};
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

/* --- properties for requests --- */

static bool is_given(const struct field *f, enum api_version v)
{
    const unsigned never = FIELD_READONLY | FIELD_DISCARD | FIELD_INPUT_ONLY | FIELD_SECRET;
    return field_known(f, v) && !(f->flags & never);
}

static const struct field *given_field(const struct schema *s, enum api_version v, const char *name)
{
    for (size_t i = 0; i < s->n_fields; i++)
        if (strcmp(s->fields[i].name, name) == 0 && is_given(&s->fields[i], v))
            return &s->fields[i];
    return NULL;
}

void schema_given_names(const struct schema *s, enum api_version v, struct strbuf *out)
{
    for (size_t i = 0; i < s->n_fields; i++)
        if (is_given(&s->fields[i], v))
            strbuf_concat(out, out->len > 0 ? "," : "", s->fields[i].name);
}

static void leave_given(const struct schema *s, enum api_version v, json_t *value)
{
    if (json_is_object(value))
        schema_given(s, v, value);
    for (size_t i = 0; i < json_array_size(value); i++)
        schema_given(s, v, json_array_get(value, i));
}

/* An object that becomes empty by this is removed, too. */
void schema_given(const struct schema *s, enum api_version v, json_t *shown)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(shown, next, name, value) {
        const struct field *f = given_field(s, v, name);
        bool had = json_object_size(value) > 0;
        if (f && f->sub)
            leave_given(f->sub, v, value);
        if (!f || (had && json_object_size(value) == 0))
            json_object_del(shown, name);
    }
}
