/* SPDX-License-Identifier: MIT
 *
 * How tables of properties are written: a row a property, in the order of replies, and a line a
 * row. Its names are short: the files that define tables include it, and model/schema/tables.h.
 *
 * A row begins with the property's name on the wire. Its flags follow (REQUIRED | SECRET; 0: none),
 * then what the macro takes besides. Other members of struct field (model/schema.h) are named:
 *   .canon = "httpUrl"          how the newest version calls it
 *   .versions = V03 | V05       the versions that have it; there is a row for each of its forms
 *   .max = 100                  a bound alone
 *   .fallback = "\"requeue\""   its default, as JSON text
 *   .check = check_clean_text   a rule for its value
 *   .expected = "a GUID"        what a value must be, if messages of the kind do not say enough
 *   INTO(run_spec, priority)    where its value goes when the document is decoded
 *
 *     TEXT("image", REQUIRED, 1, 1024, .check = check_image, INTO(container_spec, image)),
 *     INT("nodeCount", REQUIRED, .min = 1, INTO(run_spec, node_count)),
 *     SPAN("resizeTimeout", 0, BATCH_INTERVAL_MIN_S, BATCH_INTERVAL_MAX_S),
 *     TIME("creationTime", READONLY),
 *     BOOL("isReadOnly", .fallback = "false", INTO(batch_bind, read_only)),
 *     REAL("share", .max = 100, INTO(site, share)),
 *     TEXTS("publicIPsToAllow", .max = MAX_ITEMS),
 *     MAP("tags", KEEP_EMPTY, .max = MAX_TAGS),
 *     MAP("environment", INTO_LIST(rule_match, env, n_env)),
 *     FREE("settings", .check = batch_check_extension_settings),
 *     ENUM("vmPriority", 0, vm_priority_names, .fallback = "\"dedicated\""),
 *     OBJECT("constraints", 0, schema_constraints, .fallback = "{}", INTO_SAME),
 *     LIST("secrets", 0, schema_env_secret, .max = MAX_ITEMS, INTO_LIST(run_spec, env, n_env)),
 *
 * Rows that several tables have are a macro of such rows.
 */
#ifndef MODEL_SCHEMA_ROWS_H
#define MODEL_SCHEMA_ROWS_H

#include "model/schema.h"

/* clang-format off */
/* A text: flags, minimum and maximum in bytes. Here and below, trailing arguments may be
 * omitted. */
#define TEXT(...)  {.kind = FIELD_STRING, .name = __VA_ARGS__}
/* A whole number: flags, minimum and maximum; default: 0 to INT_MAX. */
#define INT(...)   {.kind = FIELD_INT, .name = __VA_ARGS__}
/* A duration: flags, minimum and maximum in seconds. */
#define SPAN(...)  {.kind = FIELD_DURATION, .name = __VA_ARGS__}
/* An instant; true or false; a number with a fraction (.min, .max); any object: flags. */
#define TIME(...)  {.kind = FIELD_TIME, .name = __VA_ARGS__}
#define BOOL(...)  {.kind = FIELD_BOOL, .name = __VA_ARGS__}
#define REAL(...)  {.kind = FIELD_REAL, .name = __VA_ARGS__}
#define FREE(...)  {.kind = FIELD_FREE, .name = __VA_ARGS__}
/* A list of texts, an object of texts: flags. .max is the most items; the .values of a list are
 * words. */
#define TEXTS(...) {.kind = FIELD_STRINGS, .name = __VA_ARGS__}
#define MAP(...)   {.kind = FIELD_MAP, .name = __VA_ARGS__}
/* A word: flags, the words. */
#define ENUM(label, bits, ...)                                                                     \
    {.kind = FIELD_ENUM, .name = (label), .flags = (bits), .values = __VA_ARGS__}
/* An object, a list of objects: flags, the table of each. */
#define OBJECT(label, bits, ...)                                                                   \
    {.kind = FIELD_OBJECT, .name = (label), .flags = (bits), .sub = &__VA_ARGS__}
#define LIST(label, bits, ...)                                                                     \
    {.kind = FIELD_ARRAY, .name = (label), .flags = (bits), .sub = &__VA_ARGS__}
/* clang-format on */

/* The flags of enum field_flag. */
enum {
    REQUIRED = FIELD_REQUIRED,
    READONLY = FIELD_READONLY,
    SECRET = FIELD_SECRET,
    UPPER = FIELD_UPPER,
    LOWER = FIELD_LOWER,
    KEEP_EMPTY = FIELD_KEEP_EMPTY,
    MUTABLE = FIELD_MUTABLE,
    INPUT_ONLY = FIELD_INPUT_ONLY,
    DISCARD = FIELD_DISCARD,
    ID = FIELD_ID,
    ALWAYS = FIELD_ALWAYS,
    POINTER = FIELD_POINTER,
    BARE = FIELD_BARE
};

/* The place of a value: a member of the struct that the table is decoded into. An object's member
 * is a separate struct or, with POINTER, a pointer to one. A table with one relevant text (an id, a
 * secret's URL) is decoded into a const char *. test/unit/model/test_schema_rows.c checks that each
 * member fits its row. */
/* clang-format off */
#define INTO(type, member)                                                                         \
    .into = (unsigned short)(1 + offsetof(struct type, member)),                                   \
    .into_size = sizeof(((struct type *)0)->member),                                               \
    .into_type = _Generic(((struct type *)0)->member, const char *: INTO_IS_TEXT,                  \
                          int: INTO_IS_INT, bool: INTO_IS_BOOL, int64_t: INTO_IS_INT64,            \
                          double: INTO_IS_REAL, default: INTO_IS_OTHER)
/* clang-format on */
/* A list's place is a pointer to the first item, beside a size_t. The items of a map are struct kv
 * (lib/kv.h). */
#define INTO_LIST(type, member, count)                                                             \
    INTO(type, member),                                                                            \
        .count_into = (unsigned short)(1 + offsetof(struct type, count) +                          \
                                       0 * _Generic(((struct type *)0)->count, size_t : 1))
/* The object's properties are members of the struct that its siblings are decoded into. */
#define INTO_SAME .into = 1

/* A table: its symbol, its rows, its name in messages. Optional: .check = check_job, a rule for the
 * whole object; FILLS(run_spec), the struct that it is decoded into; and .finish = finish_job,
 * decoding beyond the rows.
 *     SCHEMA(schema_job, job_rows, "Job", FILLS(run_spec)); */
#define SCHEMA(symbol, rows, ...)                                                                  \
    const struct schema symbol = {                                                                 \
        .fields = (rows), .n_fields = sizeof(rows) / sizeof *(rows), .name = __VA_ARGS__}
#define FILLS(type) .size = sizeof(struct type)

#endif
