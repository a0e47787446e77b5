/* SPDX-License-Identifier: MIT
 *
 * The macros for tables of properties: one row for each property, in the order of replies, and one
 * line for each row. The macros have short names, so only files that define tables (and
 * model/schema/tables.h) include this header.
 *
 * A row begins with the property's name in requests and replies. Its flags follow (REQUIRED |
 * SECRET; 0: none), then the macro's further arguments. Other members of struct field
 * (model/schema.h) are set by name:
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
 * Rows that several tables contain are defined as a macro.
 */
#ifndef MODEL_SCHEMA_ROWS_H
#define MODEL_SCHEMA_ROWS_H

#include "model/schema.h"

/* clang-format off */
/* A text; arguments: flags, minimum and maximum length in bytes. Here and below, the last arguments
 * may be omitted. */
#define TEXT(...)  {.kind = FIELD_STRING, .name = __VA_ARGS__}
/* A whole number; arguments: flags, minimum and maximum; by default 0 to INT_MAX. */
#define INT(...)   {.kind = FIELD_INT, .name = __VA_ARGS__}
/* A duration; arguments: flags, minimum and maximum in seconds. */
#define SPAN(...)  {.kind = FIELD_DURATION, .name = __VA_ARGS__}
/* In this order: an instant; true or false; a number with a fraction (.min, .max); any object.
 * Argument: flags. */
#define TIME(...)  {.kind = FIELD_TIME, .name = __VA_ARGS__}
#define BOOL(...)  {.kind = FIELD_BOOL, .name = __VA_ARGS__}
#define REAL(...)  {.kind = FIELD_REAL, .name = __VA_ARGS__}
#define FREE(...)  {.kind = FIELD_FREE, .name = __VA_ARGS__}
/* A list of texts; an object of texts. Argument: flags. .max is the most items; .values: the
 * permitted texts of a list. */
#define TEXTS(...) {.kind = FIELD_STRINGS, .name = __VA_ARGS__}
#define MAP(...)   {.kind = FIELD_MAP, .name = __VA_ARGS__}
/* The name of an enum's value; arguments: flags, the table of names. */
#define ENUM(label, bits, ...)                                                                     \
    {.kind = FIELD_ENUM, .name = (label), .flags = (bits), .values = __VA_ARGS__}
/* An object; a list of objects. Arguments: flags, the table of the object's properties. */
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

/* Where a value is stored: in a member of the struct that the table is decoded into. The member for
 * an object is a struct or, with POINTER, a pointer to a struct. A table of which only one text
 * matters (an id, a secret's URL) is decoded into a const char *.
 * test/unit/model/test_schema_rows.c checks that each member has the type that its row needs. */
/* clang-format off */
#define INTO(type, member)                                                                         \
    .into = (unsigned short)(1 + offsetof(struct type, member)),                                   \
    .into_size = sizeof(((struct type *)0)->member),                                               \
    .into_type = _Generic(((struct type *)0)->member, const char *: INTO_IS_TEXT,                  \
                          int: INTO_IS_INT, bool: INTO_IS_BOOL, int64_t: INTO_IS_INT64,            \
                          double: INTO_IS_REAL, default: INTO_IS_OTHER)
/* clang-format on */
/* Where a list is stored: `member` is a pointer to the first item, and `count` a size_t. The items
 * of a map are struct kv (lib/kv.h). */
#define INTO_LIST(type, member, count)                                                             \
    INTO(type, member),                                                                            \
        .count_into = (unsigned short)(1 + offsetof(struct type, count) +                          \
                                       0 * _Generic(((struct type *)0)->count, size_t : 1))
/* The object's properties are decoded into the same struct as the properties beside the object. */
#define INTO_SAME .into = 1

/* A table; arguments: its symbol, its rows, its name in messages. Optional: .check = check_job, a
 * check of the whole object; FILLS(run_spec), the struct that it is decoded into; .finish =
 * finish_job, a function that decodes what rows cannot describe.
 *     SCHEMA(schema_job, job_rows, "Job", FILLS(run_spec)); */
#define SCHEMA(symbol, rows, ...)                                                                  \
    const struct schema symbol = {                                                                 \
        .fields = (rows), .n_fields = sizeof(rows) / sizeof *(rows), .name = __VA_ARGS__}
#define FILLS(type) .size = sizeof(struct type)

#endif
