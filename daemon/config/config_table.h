/* SPDX-License-Identifier: MIT
 *
 * The schema of the configuration: tables of settings. A row defines the accepted values, the
 * advice in errors, and the text of manual, docs and example file. A setting may be a list of
 * records; then it has its own table.
 */
#ifndef DAEMON_CONFIG_CONFIG_TABLE_H
#define DAEMON_CONFIG_CONFIG_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/config/config.h"
#include "lib/err.h"

enum setting_type {
    SETTING_INT,
    SETTING_BOOL,
    SETTING_STR,
    SETTING_LIST,   /* a list of texts */
    SETTING_TEXTS,  /* like SETTING_LIST, but may also be a single text */
    SETTING_RECORDS /* a list of mappings */
};

struct setting {
    const char *section; /* "" for the top level, and in records */
    const char *key;
    enum setting_type type;
    size_t offset; /* offset of the value in struct config, or in the record */
    /* In the file's syntax; for lists, blanks separate the items. NULL: the setting is required
     * (only in records). */
    const char *initial;
    int64_t min, max; /* SETTING_INT only */
    /* The valid values of a text or an item, with a NULL at the end; NULL: `check` decides. */
    const char *const *choices;
    /* The check of a text or item; NULL: any value is valid. On failure fills `e` with the reason
     * and returns -1. */
    int (*check)(const char *value, struct err *e);
    const struct record_kind *record; /* SETTING_RECORDS only */
    const char *example; /* an example value in the file's syntax; NULL: the type's example */
    const char *help;
    bool may_be_empty; /* an empty list is a value, and not the default */
    bool live;         /* a reload changes it (daemon/serve/live.c); false: only a restart does */
};

struct settings {
    const struct setting *rows;
    size_t n;
};

struct record_kind {
    const char *noun; /* "machines": a word for the items of the list */
    struct settings fields;
    size_t size; /* of the struct */
    /* A check that needs several fields; NULL: none. On error sets *key to the name of the wrong
     * field. */
    int (*check)(const void *record, const char **key, struct err *e);
    const char *example; /* a list of records in the file's syntax, without indentation */
};

extern const struct settings config_settings;
extern const struct record_kind config_inventory_kind, config_mount_kind, config_file_server_kind;

/* config_put_type() adds the type ("number", "list of machines"); config_example() returns an
 * example value in the file's syntax. */
void config_put_type(const struct setting *s, struct strbuf *b);
const char *config_example(const struct setting *s);
/* Adds "a, b or c". */
void config_put_choices(const char *const *choices, struct strbuf *b);

/* Macros for rows of a table. The table defines AT(field), the offset in its struct. Their last
 * argument is the help; further members may follow it: .live = true. */
#define SETTING_ROW_INT(section_, key_, at, initial_, min_, max_, ...)                             \
    {                                                                                              \
        .section = section_, .key = key_, .type = SETTING_INT, .offset = at, .initial = initial_,  \
        .min = min_, .max = max_, .help = __VA_ARGS__                                              \
    }
#define SETTING_ROW_BOOL(section_, key_, at, initial_, ...)                                        \
    {                                                                                              \
        .section = section_, .key = key_, .type = SETTING_BOOL, .offset = at, .initial = initial_, \
        .help = __VA_ARGS__                                                                        \
    }
/* A row for a text, a list or texts, with a function that checks each value, or with a list of
 * choices. */
#define SETTING_ROW(type_, section_, key_, at, initial_, check_, example_, ...)                    \
    {                                                                                              \
        .section = section_, .key = key_, .type = type_, .offset = at, .initial = initial_,        \
        .check = check_, .example = example_, .help = __VA_ARGS__                                  \
    }
#define SETTING_ROW_CHOICE(type_, section_, key_, at, initial_, choices_, ...)                     \
    {                                                                                              \
        .section = section_, .key = key_, .type = type_, .offset = at, .initial = initial_,        \
        .choices = choices_, .help = __VA_ARGS__                                                   \
    }
#define SETTING_ROW_RECORDS(key_, at, record_, ...)                                                \
    {                                                                                              \
        .section = "", .key = key_, .type = SETTING_RECORDS, .offset = at, .initial = "",          \
        .record = record_, .help = __VA_ARGS__                                                     \
    }

#endif
