/* SPDX-License-Identifier: MIT
 *
 * Converts the file to struct config. Checks each value when it is read, its shape first
 * (config_shape.h). Settings that the file lacks get the tables' defaults.
 */
#include "daemon/config/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config/config_shape.h"
#include "daemon/config/config_table.h"
#include "lib/arena.h"

static struct config_list split(const char *text)
{
    struct config_list l = {0};
    text += strspn(text, " ");
    while (*text) {
        size_t n = strcspn(text, " ");
        l.items = xrealloc(l.items, (l.n + 1) * sizeof *l.items);
        l.items[l.n] = xcalloc(1, n + 1);
        memcpy(l.items[l.n++], text, n);
        text += n + strspn(text + n, " ");
    }
    return l;
}

static const char *text_of(const json_t *v)
{
    return json_is_null(v) ? "" : json_string_value(v);
}

/* Copies a list, or makes a list of a single text. */
static struct config_list copy_list(const json_t *v)
{
    size_t n = json_is_array(v) ? json_array_size(v) : 1;
    struct config_list l = {.items = xcalloc(n, sizeof(char *)), .n = n};
    for (size_t i = 0; i < n; i++)
        l.items[i] = xstrdup(text_of(json_is_array(v) ? json_array_get(v, i) : v));
    return l;
}

void config_list_free(const struct config_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->items[i]);
    free(l->items);
}

char **config_list_upper(const struct config_list *l)
{
    char **copy = xcalloc(l->n + 1, sizeof *copy);
    for (size_t i = 0; i < l->n; i++) {
        copy[i] = xstrdup(l->items[i]);
        for (char *p = copy[i]; *p; p++)
            *p = (char)toupper((unsigned char)*p);
    }
    return copy;
}

void config_texts_free(char **texts)
{
    for (size_t i = 0; texts && texts[i]; i++)
        free(texts[i]);
    free(texts);
}

/* Reads only decimal numbers: 010 would be 8 for some YAML readers, and 10 for others. */
static int parse_int(const char *text, const struct setting *s, int64_t *out, struct err *e)
{
    const char *digits = text + (*text == '-');
    size_t n = strspn(digits, "0123456789");
    if (n == 0 || digits[n] || (n > 1 && *digits == '0'))
        return err_set(
            e, ERR_CONFIG, NULL,
            "'%s' is not a whole number; use a number from %lld to %lld in decimal digits", text,
            (long long)s->min, (long long)s->max);
    errno = 0;
    long long v = strtoll(text, NULL, 10);
    if (errno || v < s->min || v > s->max)
        return err_set(e, ERR_CONFIG, NULL, "%s is out of range; use %lld to %lld", text,
                       (long long)s->min, (long long)s->max);
    *out = v;
    return 0;
}

static int check_text(const struct setting *s, const char *value, struct err *e)
{
    if (!s->choices)
        return s->check ? s->check(value, e) : 0;
    for (size_t i = 0; s->choices[i]; i++)
        if (strcmp(s->choices[i], value) == 0)
            return 0;
    struct strbuf b = STRBUF_INIT;
    config_put_choices(s->choices, &b);
    err_set(e, ERR_CONFIG, NULL, "'%s' is not known here; use %s", value, b.s);
    strbuf_free(&b);
    return -1;
}

/* Whether the file contains the list; an empty list counts as missing, unless the setting has a
 * meaning for it. */
static bool is_given(const struct setting *s, const json_t *v)
{
    return v && (s->may_be_empty || !json_is_array(v) || json_array_size(v) > 0);
}

static int take_table(const struct settings *table, void *record, const json_t *mapping,
                      const char *path, const struct config_places *places, struct err *e);
static void free_table(const struct settings *table, void *record);

/* --- one setting; errors contain its place, `path` --- */

static int take_list(const struct setting *s, struct config_list *at, const json_t *v,
                     const char *path, const struct config_places *places, struct err *e)
{
    *at = is_given(s, v) ? copy_list(v) : split(s->initial);
    for (size_t i = 0; i < at->n; i++) {
        if (check_text(s, at->items[i], e) == 0)
            continue;
        char item[CONFIG_PATH_SIZE];
        config_path(item, "%s[%zu]", path, i);
        return config_place_blame(places, item, e);
    }
    return 0;
}

static int take_record(const struct record_kind *kind, void *record, const json_t *mapping,
                       const char *path, const struct config_places *places, struct err *e)
{
    const char *key = NULL;
    if (take_table(&kind->fields, record, mapping, path, places, e) < 0)
        return -1;
    if (!kind->check || kind->check(record, &key, e) == 0)
        return 0;
    char at[CONFIG_PATH_SIZE];
    config_path(at, "%s.%s", path, key);
    return config_place_blame(places, at, e);
}

static int take_records(const struct setting *s, struct config_records *at, const json_t *v,
                        const char *path, const struct config_places *places, struct err *e)
{
    const struct record_kind *kind = s->record;
    size_t n = json_array_size(v);
    *at = (struct config_records){.items = xcalloc(n + 1, kind->size), .n = n};
    for (size_t i = 0; i < n; i++) {
        char item[CONFIG_PATH_SIZE];
        config_path(item, "%s[%zu]", path, i);
        if (take_record(kind, (char *)at->items + i * kind->size, json_array_get(v, i), item,
                        places, e) < 0)
            return -1;
    }
    return 0;
}

static int take_scalar(const struct setting *s, void *at, const json_t *v, const char *path,
                       const struct config_places *places, struct err *e)
{
    const char *text = v ? text_of(v) : s->initial;
    int rc;
    if (s->type == SETTING_BOOL) {
        rc = config_parse_truth(text, at, e);
    } else if (s->type == SETTING_INT) {
        rc = parse_int(text, s, at, e);
    } else {
        *(char **)at = xstrdup(text);
        rc = check_text(s, text, e);
    }
    return rc < 0 ? config_place_blame(places, path, e) : 0;
}

/* Sets the error for a required setting that is missing, or is an empty list. `around`: the path of
 * its record. */
static int missing(const struct setting *s, bool is_empty, const char *path, const char *around,
                   const struct config_places *places, struct err *e)
{
    err_set(e, ERR_CONFIG, NULL, "%s is %s; write it as in %s: %s", is_empty ? "it" : s->key,
            is_empty ? "empty" : "missing", s->key, config_example(s));
    return config_place_blame(places, is_empty ? path : around, e);
}

static int take(const struct setting *s, void *record, const json_t *v, const char *path,
                const struct config_places *places, struct err *e)
{
    void *at = (char *)record + s->offset;
    if (v && config_shape_value(places, s, v, path, e) < 0)
        return -1;
    switch (s->type) {
    case SETTING_INT:
    case SETTING_BOOL:
    case SETTING_STR:
        return take_scalar(s, at, v, path, places, e);
    case SETTING_LIST:
    case SETTING_TEXTS:
        return take_list(s, at, v, path, places, e);
    case SETTING_RECORDS:
        return take_records(s, at, v, path, places, e);
    }
    return 0;
}

/* --- all of a table -------------------------------------------------------------------------- */

/* Fills a record. `mapping` NULL: with the defaults. `path`: the path of the record; "" for the
 * whole file. After an error the record still owns the values that were read before, which
 * free_table() frees. */
static int take_table(const struct settings *table, void *record, const json_t *mapping,
                      const char *path, const struct config_places *places, struct err *e)
{
    if (mapping && config_shape_keys(places, table, mapping, path, e) < 0)
        return -1;
    for (size_t i = 0; i < table->n; i++) {
        const struct setting *s = &table->rows[i];
        char at[CONFIG_PATH_SIZE];
        config_path(at, "%s%s%s%s%s", path, *path ? "." : "", s->section, *s->section ? "." : "",
                    s->key);
        const json_t *section = *s->section ? json_object_get(mapping, s->section) : mapping;
        const json_t *v = json_object_get(section, s->key);
        int rc = !s->initial && !is_given(s, v) ? missing(s, v != NULL, at, path, places, e)
                                                : take(s, record, v, at, places, e);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static void free_records(const struct record_kind *kind, const struct config_records *r)
{
    for (size_t i = 0; i < r->n; i++)
        free_table(&kind->fields, (char *)r->items + i * kind->size);
    free(r->items);
}

static void free_table(const struct settings *table, void *record)
{
    for (size_t i = 0; i < table->n; i++) {
        const struct setting *s = &table->rows[i];
        void *at = (char *)record + s->offset;
        if (s->type == SETTING_STR)
            free(*(char **)at);
        else if (s->type == SETTING_LIST || s->type == SETTING_TEXTS)
            config_list_free(at);
        else if (s->type == SETTING_RECORDS)
            free_records(s->record, at);
    }
}

int config_check(const struct config *c, struct err *e)
{
    const char *blamed = NULL;
    if (!*c->tls_certificate != !*c->tls_key) {
        bool no_key = *c->tls_certificate != '\0';
        blamed = no_key ? "tls.certificate" : "tls.key";
        err_set(e, ERR_CONFIG, NULL, "it needs %s, which is missing",
                no_key ? "tls.key" : "tls.certificate");
    } else if (c->http_expose && !c->http_serve) {
        blamed = "http.expose";
        err_set(e, ERR_CONFIG, NULL, "nothing is exposed as long as http.serve is not true");
    }
    return blamed ? config_place_blame(&c->places, blamed, e) : 0;
}

int config_load(const char *path, struct config *out, struct err *e)
{
    memset(out, 0, sizeof *out);
    int rc = path ? config_places_read(path, &out->places, e) : 0;
    const json_t *tree = json_is_null(out->places.doc.tree) ? NULL : out->places.doc.tree;
    if (rc == 0)
        rc = take_table(&config_settings, out, tree, "", &out->places, e);
    if (rc < 0)
        config_free(out);
    return rc;
}

/* --- from the environment -------------------------------------------------------------------- */

#define ENVIRONMENT_PREFIX "BATCHAID_"

/* The variable of a setting: BATCHAID_LOCAL_NODES for local.nodes. */
static void variable_of(const struct setting *s, struct strbuf *out)
{
    strbuf_printf(out, ENVIRONMENT_PREFIX "%s%s%s", s->section, *s->section ? "_" : "", s->key);
    for (char *at = out->s; *at; at++)
        *at = (char)toupper((unsigned char)*at);
}

bool config_variable(size_t i, struct strbuf *out)
{
    if (i >= config_settings.n)
        return false;
    out->len = 0;
    variable_of(&config_settings.rows[i], out);
    return true;
}

int config_parse_truth(const char *text, bool *out, struct err *e)
{
    *out = strcmp(text, "true") == 0;
    return *out || strcmp(text, "false") == 0
               ? 0
               : err_set(e, ERR_CONFIG, NULL, "'%s' is not a truth value; use true or false", text);
}

/* Sets a setting from the text of its variable, and replaces its value. */
static int set_from(const struct setting *s, const char *text, struct config *c, struct err *e)
{
    void *at = (char *)c + s->offset;
    switch (s->type) {
    case SETTING_BOOL:
        return config_parse_truth(text, at, e);
    case SETTING_INT:
        return parse_int(text, s, at, e);
    case SETTING_STR:
        free(*(char **)at);
        *(char **)at = xstrdup(text);
        return check_text(s, text, e);
    case SETTING_LIST:
    case SETTING_TEXTS: {
        struct config_list *l = at;
        config_list_free(l);
        *l = split(text);
        if (l->n == 0 && *s->initial && !s->may_be_empty)
            return err_set(e, ERR_CONFIG, NULL, "it is empty; write one item or more");
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < l->n; i++)
            rc = check_text(s, l->items[i], e);
        return rc;
    }
    case SETTING_RECORDS:
        return err_set(e, ERR_CONFIG, NULL,
                       "a list of %s is in a file only; use --config or BATCHAID_CONFIG",
                       s->record->noun);
    }
    return 0;
}

int config_from_environment(struct config *c, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < config_settings.n; i++) {
        const struct setting *s = &config_settings.rows[i];
        struct strbuf name = STRBUF_INIT;
        variable_of(s, &name);
        const char *text = getenv(name.s);
        if (text && s->offset != offsetof(struct config, state_dir)) {
            rc = set_from(s, text, c, e);
            if (rc < 0)
                err_prefix(e, "$%s", name.s);
        }
        strbuf_free(&name);
    }
    return rc < 0 ? -1 : config_check(c, e);
}

void config_free(struct config *c)
{
    free_table(&config_settings, c);
    config_places_free(&c->places);
    memset(c, 0, sizeof *c);
}

int config_resizing_s(const struct config *cf)
{
    int64_t twice = 2 * cf->retry_after_s;
    return (int)(cf->resizing_s == 0 || cf->resizing_s > twice ? cf->resizing_s : twice);
}
