/* SPDX-License-Identifier: MIT
 *
 * Finds values that do not have the shape that the tables of settings require: unknown keys, and
 * values of a wrong kind. Each error contains file, line, the name of the setting, its value and
 * the valid values.
 */
#include "daemon/config/config_shape.h"

#include <string.h>

#include "lib/nearest.h"

enum { MAX_TEXT = 4096, MAX_ITEMS = 10000 };

/* Whether one of the first `rows` rows has this section. */
static bool has_section(const struct settings *table, const char *name, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        if (*name && strcmp(table->rows[i].section, name) == 0)
            return true;
    return false;
}

/* Adds the known keys to an error. `unknown`: the unknown key; NULL: the error is another one. */
static void list_keys(const struct settings *table, const char *section, const char *unknown,
                      struct strbuf *b)
{
    char words[NEAREST_SIZE];
    struct strbuf all = STRBUF_INIT;
    const char *separator = "; the keys here are ";
    struct nearest near = nearest_to(unknown ? unknown : "");
    for (size_t i = 0; i < table->n; i++) {
        const struct setting *s = &table->rows[i];
        bool here = strcmp(s->section, section) == 0;
        if (!here && (*section || has_section(table, s->section, i)))
            continue;
        nearest_offer(&near, here ? s->key : s->section);
        strbuf_printf(&all, "%s%s", separator, here ? s->key : s->section);
        separator = ", ";
    }
    strbuf_puts(b, nearest_words(&near, "", words));
    strbuf_add(b, all.s, all.len);
    strbuf_free(&all);
}

static const char *what_it_is(const json_t *v)
{
    return json_is_array(v)    ? "it is a list"
           : json_is_object(v) ? "it is a mapping"
           : json_is_null(v)   ? "it is empty"
                               : "it is a text";
}

static bool is_known(const struct settings *table, const char *section, const char *key)
{
    for (size_t i = 0; i < table->n; i++)
        if (strcmp(table->rows[i].section, section) == 0 && strcmp(table->rows[i].key, key) == 0)
            return true;
    return false;
}

/* Checks the keys of a section. Section "" is the top level, whose keys include the names of the
 * other sections. */
static int check_section(const struct config_places *file, const struct settings *table,
                         const char *section, const json_t *v, const char *path, struct err *e)
{
    const char *key = NULL;
    json_t *inner;
    struct strbuf b = STRBUF_INIT;
    json_object_foreach((json_t *)v, key, inner) {
        if (!*section && has_section(table, key, table->n)) {
            if (check_section(file, table, key, inner, key, e) < 0)
                return -1;
        } else if (!is_known(table, section, key)) {
            break;
        }
    }
    if (json_is_object(v) && !key)
        return 0;
    if (key)
        strbuf_printf(&b, "Unexpected key: %.200s", key);
    else
        strbuf_printf(&b, "%s; it takes key: value pairs", what_it_is(v));
    list_keys(table, section, key, &b);
    err_set(e, ERR_CONFIG, NULL, "%s", b.s);
    strbuf_free(&b);
    return config_place_blame_key(file, path, key, e);
}

int config_shape_keys(const struct config_places *file, const struct settings *table,
                      const json_t *v, const char *path, struct err *e)
{
    return check_section(file, table, "", v, path, e);
}

static bool is_text(const json_t *v)
{
    return json_is_string(v) || json_is_null(v);
}

static int check_length(const json_t *v, struct err *e)
{
    size_t n = json_is_array(v) ? json_array_size(v) : json_string_length(v);
    size_t max = json_is_array(v) ? MAX_ITEMS : MAX_TEXT;
    return n <= max ? 0
                    : err_set(e, ERR_CONFIG, NULL, "it has %zu %s; at most %zu are allowed", n,
                              json_is_array(v) ? "items" : "bytes", max);
}

static int check_items(const struct config_places *file, const json_t *list, const char *path,
                       struct err *e)
{
    size_t i;
    json_t *v;
    json_array_foreach(list, i, v) {
        int rc = is_text(v) ? check_length(v, e)
                            : err_set(e, ERR_CONFIG, NULL,
                                      "%s; each item of this list must be a text", what_it_is(v));
        if (rc < 0) {
            char item[CONFIG_PATH_SIZE];
            config_path(item, "%s[%zu]", path, i);
            return config_place_blame(file, item, e);
        }
    }
    return 0;
}

int config_shape_value(const struct config_places *file, const struct setting *s, const json_t *v,
                       const char *path, struct err *e)
{
    bool may_be_list = s->type >= SETTING_LIST;
    bool may_be_text = !may_be_list || s->type == SETTING_TEXTS;
    if ((may_be_list && json_is_array(v)) || (may_be_text && is_text(v)))
        return check_length(v, e) < 0 ? config_place_blame(file, path, e)
               : s->record            ? 0
                                      : check_items(file, v, path, e);
    struct strbuf b = STRBUF_INIT;
    config_put_type(s, &b);
    err_set(e, ERR_CONFIG, NULL, "%s; it takes a %s, as in %s: %s", what_it_is(v), b.s, s->key,
            config_example(s));
    strbuf_free(&b);
    return config_place_blame(file, path, e);
}
