/* SPDX-License-Identifier: MIT */
#include "daemon/config_parse.h"

#include <cyaml/cyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STRING = 4096, MAX_ITEMS = 10000 };

/* --- the schema ----------------------------------------------------------------------------- */

static const cyaml_schema_value_t string_entry = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, MAX_STRING),
};

/* By itself libcyaml takes every word that it does not know for true, misspellings of "false"
 * included. */
static const cyaml_strval_t truth_values[] = {{"false", false}, {"true", true}};

static const cyaml_schema_field_t *fields_of(struct arena *a, const struct settings *table,
                                             const char *section);

static cyaml_schema_value_t mapping_of(struct arena *a, const struct settings *table,
                                       const char *section)
{
    return (cyaml_schema_value_t){
        .type = CYAML_MAPPING,
        .flags = CYAML_FLAG_OPTIONAL,
        .data_size = (uint32_t)(table->n * sizeof(struct config_slot)),
        .mapping.fields = fields_of(a, table, section),
    };
}

static const cyaml_schema_value_t *record_entry(struct arena *a, const struct record_kind *kind)
{
    cyaml_schema_value_t *entry = arena_alloc(a, sizeof *entry);
    *entry = mapping_of(a, &kind->fields, "");
    entry->flags = CYAML_FLAG_DEFAULT;
    return entry;
}

static cyaml_schema_value_t value_schema(struct arena *a, const struct setting *s)
{
    cyaml_schema_value_t v = {.flags = CYAML_FLAG_OPTIONAL | CYAML_FLAG_POINTER};
    switch (s->type) {
    case SETTING_BOOL:
        v.type = CYAML_ENUM;
        v.flags |= CYAML_FLAG_STRICT;
        v.data_size = sizeof(bool);
        v.enumeration.strings = truth_values;
        v.enumeration.count = 2;
        break;
    case SETTING_INT: /* libcyaml would take 1.5 for 1 */
    case SETTING_STR:
        v.type = CYAML_STRING;
        v.data_size = sizeof(char);
        v.string.max = MAX_STRING;
        break;
    case SETTING_LIST:
    case SETTING_TEXTS:
    case SETTING_RECORDS:
        v.type = CYAML_SEQUENCE;
        v.sequence.entry = s->record ? record_entry(a, s->record) : &string_entry;
        v.data_size = s->record ? v.sequence.entry->data_size : sizeof(char *);
        v.sequence.max = MAX_ITEMS;
        break;
    }
    return v;
}

/* Whether an earlier row has the same section. */
static bool section_is_known(const struct settings *table, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (strcmp(table->rows[i].section, table->rows[row].section) == 0)
            return true;
    return false;
}

/* The keys of a section; the section "" has the other sections among its keys. All mappings of a
 * table start at the same address, so a slot has the index of its row in every section. */
static const cyaml_schema_field_t *fields_of(struct arena *a, const struct settings *table,
                                             const char *section)
{
    cyaml_schema_field_t *fields = arena_alloc(a, (table->n + 1) * sizeof *fields), *f = fields;
    for (size_t i = 0; i < table->n; i++) {
        const struct setting *s = &table->rows[i];
        if (strcmp(s->section, section) == 0) {
            f->key = s->key;
            f->data_offset = (uint32_t)(i * sizeof(struct config_slot));
            f->count_offset = f->data_offset + (uint32_t)offsetof(struct config_slot, count);
            f->count_size = sizeof(uint64_t);
            f++->value = value_schema(a, s);
        } else if (!*section && !section_is_known(table, i)) {
            f->key = s->section;
            f++->value = mapping_of(a, table, s->section);
        }
    }
    return fields;
}

static const cyaml_schema_value_t *root_of(struct arena *a)
{
    cyaml_schema_value_t *root = arena_alloc(a, sizeof *root);
    *root = mapping_of(a, &config_settings, "");
    root->flags = CYAML_FLAG_POINTER;
    return root;
}

/* --- complaints ----------------------------------------------------------------------------- */

/* libcyaml's complaints that end with the name of a key begin so. */
static const char unknown_key[] = "Unexpected key: ";
static const char repeated_key[] = "Mapping field already seen: ";

/* libcyaml's messages: the first complaint, then its place, from the inside out. */
struct complaint {
    char what[256];
    struct strbuf path;
};

/* Puts the place that `text` names, if any, before the path. */
static void hear_place(struct complaint *c, const char *text)
{
    static const char field[] = "in mapping field '", entry[] = "in sequence entry '";
    const char *name = strstr(text, field), *index = strstr(text, entry);
    struct strbuf outer = STRBUF_INIT;
    if (name) {
        name += strlen(field);
        strbuf_add(&outer, name, strcspn(name, "'"));
    } else if (index) {
        unsigned long n = strtoul(index + strlen(entry), NULL, 10); /* counted from 1 */
        strbuf_printf(&outer, "[%lu]", n ? n - 1 : 0);
    } else {
        return;
    }
    if (c->path.len)
        strbuf_printf(&outer, "%s%s", *c->path.s == '[' ? "" : ".", c->path.s);
    strbuf_free(&c->path);
    c->path = outer;
}

__attribute__((format(printf, 3, 0))) static void hear(cyaml_log_t level, void *ctx,
                                                       const char *fmt, va_list args)
{
    static const char prefix[] = "Load: ";
    struct complaint *c = ctx;
    if (level < CYAML_LOG_ERROR)
        return;
    char text[sizeof c->what];
    vsnprintf(text, sizeof text, fmt, args);
    text[strcspn(text, "\n")] = '\0';
    if (strstr(text, "(line: ")) {
        hear_place(c, text);
    } else if (!c->what[0]) {
        bool skip = strncmp(text, prefix, strlen(prefix)) == 0;
        snprintf(c->what, sizeof c->what, "%s", text + (skip ? strlen(prefix) : 0));
    }
}

static void list_keys(const struct settings *table, const char *section, struct strbuf *b)
{
    const char *separator = "; the keys here are ";
    for (size_t i = 0; i < table->n; i++) {
        const struct setting *s = &table->rows[i];
        bool here = strcmp(s->section, section) == 0;
        if (!here && (*section || section_is_known(table, i)))
            continue;
        strbuf_printf(b, "%s%s", separator, here ? s->key : s->section);
        separator = ", ";
    }
}

static bool is_item(const char *path)
{
    size_t n = strlen(path);
    return n > 0 && path[n - 1] == ']';
}

static void advise_type(const struct setting *s, const char *path, struct strbuf *b)
{
    if (s->record && is_item(path)) {
        strbuf_puts(b, "; it takes key: value pairs");
        list_keys(&s->record->fields, "", b);
    } else if (is_item(path)) {
        strbuf_puts(b, "; each of this list is a text");
    } else {
        strbuf_puts(b, "; it takes a ");
        config_put_type(s, b);
        strbuf_printf(b, ", as in %s: %s", s->key, config_example(s));
    }
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* "Expecting X, got event: Y" in words. */
static const char *plainly(const char *what)
{
    static const struct {
        const char *event, *words;
    } events[] = {{"SCALAR", "it is a text"},
                  {"SEQUENCE_START", "it is a list"},
                  {"MAPPING_START", "it is a mapping"},
                  {"ALIAS", "it is an alias"}};
    const char *got = strstr(what, "got event: ");
    for (size_t i = 0; got && i < sizeof events / sizeof events[0]; i++)
        if (strcmp(got + strlen("got event: "), events[i].event) == 0)
            return events[i].words;
    return what;
}

/* Adds what would be right at `path`. */
static void advise(const char *what, const char *path, struct strbuf *b)
{
    const struct setting *s = config_find(path);
    if (begins(what, repeated_key))
        return;
    if (begins(what, unknown_key) && s && s->record) {
        list_keys(&s->record->fields, "", b);
    } else if (begins(what, unknown_key)) {
        list_keys(&config_settings, path, b);
    } else if (s) {
        advise_type(s, path, b);
    } else {
        strbuf_puts(b, "; it takes key: value pairs");
        list_keys(&config_settings, path, b);
    }
}

static int complain(const struct complaint *c, const struct config_places *places, cyaml_err_t rc,
                    struct err *e)
{
    const char *path = c->path.s ? c->path.s : "";
    const char *what = c->what[0] ? c->what : cyaml_strerror(rc);
    struct strbuf b = STRBUF_INIT, at = STRBUF_INIT;
    strbuf_puts(&b, plainly(what));
    advise(what, path, &b);
    err_set(e, ERR_CONFIG, NULL, "%s", b.s);

    strbuf_puts(&at, path);
    int line = 0;
    if (begins(what, unknown_key)) {
        strbuf_printf(&at, "%s%s", *path ? "." : "", what + strlen(unknown_key));
        line = config_place_line(places, at.s, 1);
    }
    if (line && *path)
        err_prefix(e, "%s", path);
    int result = line ? err_prefix(e, "%s:%d", places->file, line)
                      : config_place_blame(places, path, begins(what, repeated_key) ? 2 : 1, e);
    strbuf_free(&b);
    strbuf_free(&at);
    return result;
}

int config_parse(const struct strbuf *yaml, const struct config_places *places,
                 struct config_raw *out, struct err *e)
{
    struct complaint heard = {.what = ""};
    const cyaml_config_t how = {
        .log_fn = hear, .log_ctx = &heard, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR};
    memset(out, 0, sizeof *out);
    arena_init(&out->schema);
    if (yaml->len == 0)
        return 0;
    cyaml_data_t **to = (cyaml_data_t **)&out->slots;
    cyaml_err_t rc =
        cyaml_load_data((const uint8_t *)yaml->s, yaml->len, &how, root_of(&out->schema), to, NULL);
    int result = rc == CYAML_OK ? 0 : complain(&heard, places, rc, e);
    strbuf_free(&heard.path);
    return result;
}

void config_raw_free(struct config_raw *raw)
{
    const cyaml_config_t how = {.mem_fn = cyaml_mem};
    if (raw->slots)
        cyaml_free(&how, root_of(&raw->schema), raw->slots, 0);
    arena_free(&raw->schema);
}
