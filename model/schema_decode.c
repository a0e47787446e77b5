/* SPDX-License-Identifier: MIT
 *
 * The decoding side of the engine: a canonical document fills the struct that its rows refer to.
 * Values are written by memcpy() at the offsets in the rows, which INTO() computed from the struct.
 */
#include <assert.h>
#include <string.h>

#include "lib/kv.h"
#include "lib/timefmt.h"
#include "model/schema_priv.h"
#include "model/span.h"
#include "model/spec.h"

static void put(char *into, const void *value, size_t size)
{
    memcpy(into, value, size);
}

static void put_text(struct arena *a, const json_t *v, char *into)
{
    const char *text = arena_strdup(a, json_string_value(v));
    put(into, &text, sizeof text);
}

static void put_int(const struct field *f, const json_t *v, char *into)
{
    int64_t n = json_integer_value(v);
    int small = (int)n;
    if (f->into_type == INTO_IS_INT64)
        put(into, &n, sizeof n);
    else
        put(into, &small, sizeof small);
}

static void put_real(const json_t *v, char *into)
{
    double n = json_number_value(v);
    put(into, &n, sizeof n);
}

static void put_bool(const json_t *v, char *into)
{
    bool b = json_is_true(v);
    put(into, &b, sizeof b);
}

static void put_enum(const struct field *f, const json_t *v, char *into)
{
    int value = json_is_string(v) ? enum_from_name(f->values, json_string_value(v)) : 0;
    put(into, &value, sizeof value);
}

static void put_duration(const json_t *v, char *into)
{
    int64_t us;
    const char *text = json_string_value(v);
    if (!text || (duration_parse(text, &us) < 0 && span_parse(text, &us) < 0))
        return;
    us = us < DURATION_MAX_US ? us : DURATION_MAX_US;
    put(into, &us, sizeof us);
}

static void put_time(const json_t *v, char *into)
{
    int64_t us;
    if (json_is_string(v) && timefmt_parse(json_string_value(v), &us) == 0)
        put(into, &us, sizeof us);
}

static void put_object(struct arena *a, const struct field *f, const json_t *v, char *into)
{
    if (!json_is_object(v))
        return;
    if (!(f->flags & FIELD_POINTER)) {
        schema_decode(f->sub, a, v, into);
        return;
    }
    void *own = arena_alloc(a, f->sub->size);
    schema_decode(f->sub, a, v, own);
    put(into, &own, sizeof own);
}

static void put_list(struct arena *a, const struct field *f, const json_t *v, char *into,
                     char *count_into)
{
    char *before;
    size_t size = f->sub->size, more = json_array_size(v), n;
    if (more == 0)
        return;
    memcpy(&before, into, sizeof before);
    memcpy(&n, count_into, sizeof n);
    char *all = arena_alloc(a, (n + more) * size);
    if (n > 0)
        memcpy(all, before, n * size);
    for (size_t i = 0; i < more; i++)
        schema_decode(f->sub, a, json_array_get(v, i), all + (n + i) * size);
    n += more;
    put(into, &all, sizeof all);
    put(count_into, &n, sizeof n);
}

static void put_map(struct arena *a, const json_t *v, char *into, char *count_into)
{
    const char *name;
    json_t *value;
    size_t n = 0;
    struct kv *all = arena_alloc(a, (json_object_size(v) + 1) * sizeof *all);
    json_object_foreach((json_t *)(uintptr_t)v, name, value)
        if (json_is_string(value))
            all[n++] = (struct kv){.name = arena_strdup(a, name),
                                   .value = arena_strdup(a, json_string_value(value))};
    put(into, &all, sizeof all);
    put(count_into, &n, sizeof n);
}

static void put_value(struct arena *a, const struct field *f, const json_t *v, char *base)
{
    assert((f->kind != FIELD_ARRAY && f->kind != FIELD_MAP) || f->count_into);
    char *into = base + f->into - 1;
    switch (f->kind) {
    case FIELD_STRING:
        put_text(a, v, into);
        return;
    case FIELD_INT:
        put_int(f, v, into);
        return;
    case FIELD_REAL:
        put_real(v, into);
        return;
    case FIELD_BOOL:
        put_bool(v, into);
        return;
    case FIELD_ENUM:
        put_enum(f, v, into);
        return;
    case FIELD_DURATION:
        put_duration(v, into);
        return;
    case FIELD_OBJECT:
        put_object(a, f, v, into);
        return;
    case FIELD_ARRAY:
        put_list(a, f, v, into, base + f->count_into - 1);
        return;
    case FIELD_MAP:
        put_map(a, v, into, base + f->count_into - 1);
        return;
    case FIELD_TIME:
        put_time(v, into);
        return;
    case FIELD_FREE:
    case FIELD_STRINGS:
        break; /* these are not decoded */
    }
    assert(!"a row of this kind has no place in a struct");
}

void schema_decode(const struct schema *s, struct arena *a, const json_t *doc, void *into)
{
    assert(s->size > 0);
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct field *f = &s->fields[i];
        assert(f->into <= s->size && f->count_into <= s->size); /* 1 + offsets in it */
        const json_t *v = f->into ? json_object_get(doc, field_canon(f)) : NULL;
        if (v)
            put_value(a, f, v, into);
    }
    if (s->finish)
        s->finish(a, doc, into);
}
