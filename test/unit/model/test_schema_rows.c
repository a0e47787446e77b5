/* SPDX-License-Identifier: MIT
 *
 * The place of each row of each table fits the row: INTO() takes any member, and decoding writes
 * into it what the row's kind says.
 */
#include "model/schema_rows.h"
#include "test/unit/model/doc.h"

/* Tables that have a name for others (the build lists them); the others are below them. */
#define TABLE(name) extern const struct schema name;
#include "tables.h"
#undef TABLE
#define TABLE(name) &name,
static const struct schema *const tops[] = {
#include "tables.h"
};
enum { N_TOPS = sizeof tops / sizeof tops[0], TABLES_MOST = 512 };

/* Whether the member is what a row of this kind is decoded into. */
static bool type_fits(const struct field *f)
{
    switch (f->kind) {
    case FIELD_STRING:
        return f->into_type == INTO_IS_TEXT;
    case FIELD_INT:
        return f->into_type == INTO_IS_INT || f->into_type == INTO_IS_INT64;
    case FIELD_REAL:
        return f->into_type == INTO_IS_REAL;
    case FIELD_BOOL:
        return f->into_type == INTO_IS_BOOL;
    case FIELD_DURATION:
    case FIELD_TIME:
        return f->into_type == INTO_IS_INT64;
    case FIELD_ENUM:
        return f->into_size == sizeof(int) &&
               (f->into_type == INTO_IS_INT || f->into_type == INTO_IS_OTHER);
    case FIELD_ARRAY:
        return f->into_size == sizeof(void *) && f->into_type == INTO_IS_OTHER && f->sub->size > 0;
    case FIELD_OBJECT:
        if (f->flags & FIELD_POINTER)
            return f->into_size == sizeof(void *) && f->into_type == INTO_IS_OTHER;
        return f->into_size == f->sub->size;
    case FIELD_MAP:
        return f->into_size == sizeof(void *) && f->into_type == INTO_IS_OTHER;
    case FIELD_STRINGS:
    case FIELD_FREE:
        break; /* these are not decoded */
    }
    return false;
}

/* INTO_SAME: an object of the same struct, or the text in a table that is decoded into a text. */
static bool same_fits(const struct schema *s, const struct field *f)
{
    if (f->kind == FIELD_OBJECT)
        return f->sub->size == s->size || s->size == 0;
    return f->kind == FIELD_STRING && s->size == sizeof(const char *);
}

/* A table that is not decoded (size 0) may share rows with such as are. */
static bool fits(const struct schema *s, const struct field *f)
{
    bool counted = f->into != 0 && (f->kind == FIELD_ARRAY || f->kind == FIELD_MAP);
    if (counted != (f->count_into != 0))
        return false;
    if (f->into == 0)
        return true;
    if (f->into_size == 0)
        return f->into == 1 && same_fits(s, f);
    bool inside = f->into - 1U + f->into_size <= s->size && f->count_into <= s->size;
    return (inside || s->size == 0) && type_fits(f);
}

static size_t check(const struct schema *s, const struct schema **seen, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (seen[i] == s)
            return n;
    assert_true(n < TABLES_MOST);
    seen[n++] = s;
    for (size_t i = 0; i < s->n_fields; i++) {
        if (!fits(s, &s->fields[i]))
            fail_msg("%s.%s does not fit its place", s->name, s->fields[i].name);
        if (s->fields[i].sub)
            n = check(s->fields[i].sub, seen, n);
    }
    return n;
}

TEST(every_place_fits_its_row)
{
    const struct schema *seen[TABLES_MOST];
    size_t n = 0;
    for (size_t i = 0; i < N_TOPS; i++)
        n = check(tops[i], seen, n);
    assert_true(n > N_TOPS);
}

struct schema_part {
    int number;
};
struct schema_thing {
    const char *text;
    int number;
    bool truth;
    int64_t us;
    double real;
    struct schema_part part, *own, *list;
    struct kv *map;
    size_t n;
};
static const struct field part_rows[] = {INT("number", INTO(schema_part, number))};
static SCHEMA(part, part_rows, "Part", FILLS(schema_part));
static const struct enum_name words[] = {{1, "one"}, {0, NULL}};

TEST(a_place_that_does_not_fit_is_found)
{
    static const struct field good[] = {
        TEXT("a", INTO(schema_thing, text)),
        INT("a", INTO(schema_thing, number)),
        BOOL("a", INTO(schema_thing, truth)),
        SPAN("a", INTO(schema_thing, us)),
        TIME("a", INTO(schema_thing, us)),
        INT("a", INTO(schema_thing, us)),
        REAL("a", INTO(schema_thing, real)),
        MAP("a", INTO_LIST(schema_thing, map, n)),
        ENUM("a", 0, words, INTO(schema_thing, number)),
        OBJECT("a", 0, part, INTO(schema_thing, part)),
        OBJECT("a", POINTER, part, INTO(schema_thing, own)),
        LIST("a", 0, part, INTO_LIST(schema_thing, list, n)),
    };
    static const struct field bad[] = {
        TEXT("a", INTO(schema_thing, number)),
        TEXT("a", INTO(schema_thing, us)),
        TEXT("a", INTO_SAME),
        INT("a", INTO(schema_thing, truth)),
        BOOL("a", INTO(schema_thing, number)),
        SPAN("a", INTO(schema_thing, text)),
        TIME("a", INTO(schema_thing, number)),
        REAL("a", INTO(schema_thing, number)),
        ENUM("a", 0, words, INTO(schema_thing, us)),
        OBJECT("a", 0, part, INTO(schema_thing, us)),
        OBJECT("a", 0, part, INTO_SAME),
        OBJECT("a", POINTER, part, INTO(schema_thing, number)),
        LIST("a", 0, part, INTO(schema_thing, list)),
        LIST("a", 0, part, INTO_LIST(schema_thing, number, n)),
        MAP("a", INTO(schema_thing, own)),
    };
    static SCHEMA(table, good, "Thing", FILLS(schema_thing));
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (!fits(&table, &good[i]))
            fail_msg("%zu: it fits", i);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (fits(&table, &bad[i]))
            fail_msg("%zu: it does not fit", i);
}
