/* SPDX-License-Identifier: MIT
 *
 * Reading the file: libcyaml fills one slot a setting under a schema built from the table; what the
 * file does not say is filled from the table's defaults; then every value is checked.
 */
#include "daemon/config.h"

#include <cyaml/cyaml.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/fs.h"

enum { MAX_SETTINGS = 32, MAX_SECTIONS = 8, MAX_FILE = 1 << 20, MAX_STRING = 4096 };

/* What libcyaml allocated for a setting; NULL if the file does not mention it, or gives an empty
 * list: that is the default, too. */
struct slot {
    void *value;
    uint64_t count; /* lists only */
};

struct raw {
    struct slot slots[MAX_SETTINGS];
};

struct schema {
    cyaml_schema_field_t top[MAX_SETTINGS + 1];
    cyaml_schema_field_t sections[MAX_SECTIONS][MAX_SETTINGS + 1];
    cyaml_schema_value_t root;
};

static const cyaml_schema_value_t string_entry = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, MAX_STRING),
};

/* libcyaml's own truth values include every misspelling of them. */
static const cyaml_strval_t truth_values[] = {{"false", false}, {"true", true}};

/* Beginnings of libcyaml's complaints that the key's name follows. */
static const char unknown_key[] = "Unexpected key: ";
static const char repeated_key[] = "Mapping field already seen: ";

/* What libcyaml said: the first complaint, then where, from the innermost place outwards. */
struct complaint {
    char what[256];
    struct strbuf key; /* dotted; empty at the top level */
    int line;
};

static bool is_key(const char *p, const char *name)
{
    size_t n = strlen(name);
    char quote = *p == '"' || *p == '\'' ? *p++ : '\0';
    if (strncmp(p, name, n) != 0 || (quote && p[n++] != quote))
        return false;
    return p[n + strspn(p + n, " ")] == ':';
}

/* The line that names `key` of `section` ("": the top level) for the nth time; 0 if none does by
 * itself, as in a mapping in braces. `text` may be NULL. */
static int key_line(const char *text, const char *section, const char *key, int nth)
{
    bool top = !*section, inside = top;
    int line = 1;
    for (const char *p = text; p && *p; line++) {
        size_t indent = strspn(p, " ");
        if (!top && indent == 0 && !strchr("#\r\n", *p))
            inside = is_key(p, section);
        else if (inside && top == (indent == 0) && is_key(p + indent, key) && --nth == 0)
            return line;
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    return 0;
}

static void hear_place(struct complaint *c, const char *text, const char *place)
{
    static const char *const field = "in mapping field '";
    if (c->line == 0)
        c->line = (int)strtol(place, NULL, 10);
    const char *name = strstr(text, field);
    if (!name)
        return;
    name += strlen(field);
    struct strbuf outer = STRBUF_INIT;
    strbuf_add(&outer, name, strcspn(name, "'"));
    if (c->key.len)
        strbuf_printf(&outer, ".%s", c->key.s);
    strbuf_free(&c->key);
    c->key = outer;
}

__attribute__((format(printf, 3, 0))) static void hear(cyaml_log_t level, void *ctx,
                                                       const char *fmt, va_list args)
{
    static const char *const prefix = "Load: ";
    struct complaint *c = ctx;
    if (level < CYAML_LOG_ERROR)
        return;
    char text[sizeof c->what];
    vsnprintf(text, sizeof text, fmt, args);
    text[strcspn(text, "\n")] = '\0';
    const char *place = strstr(text, "(line: ");
    if (place) {
        hear_place(c, text, place + strlen("(line: "));
    } else if (!c->what[0]) {
        bool skip = strncmp(text, prefix, strlen(prefix)) == 0;
        snprintf(c->what, sizeof c->what, "%s", text + (skip ? strlen(prefix) : 0));
    }
}

/* What would have been right at `key`. */
static void advise(const char *what, const char *key, struct strbuf *b)
{
    const char *separator = "; the keys here are ";
    bool is_unknown = strncmp(what, unknown_key, strlen(unknown_key)) == 0;
    for (size_t i = 0; i < config_n_settings; i++) {
        const struct setting *s = &config_settings[i];
        if (!is_unknown && config_is_named(s, key))
            strbuf_printf(b, "; it takes a %s, as in %s: %s", config_type_name(s->type), s->key,
                          config_example(s->type));
        bool repeated = i > 0 && *s->section && strcmp(s[-1].section, s->section) == 0;
        bool here = !*key ? !repeated : strcmp(s->section, key) == 0;
        if (!is_unknown || !here)
            continue;
        strbuf_printf(b, "%s%s", separator, !*key && *s->section ? s->section : s->key);
        separator = ", ";
    }
}

/* The line that `c` is about; 0 if it cannot be told. libcyaml names the line of the last thing
 * that it understood, which for a key that should not be there is the one before. */
static int complaint_line(const struct complaint *c, const char *text)
{
    const char *key = c->key.len ? c->key.s : "";
    int line = 0;
    if (strncmp(c->what, unknown_key, strlen(unknown_key)) == 0) {
        line = key_line(text, key, c->what + strlen(unknown_key), 1);
    } else if (strncmp(c->what, repeated_key, strlen(repeated_key)) == 0) {
        const char *dot = strchr(key, '.');
        char *section = xstrdup(dot ? key : "");
        section[strcspn(section, ".")] = '\0';
        line = key_line(text, section, dot ? dot + 1 : key, 2);
        free(section);
    }
    return line ? line : c->line;
}

static int complain(const struct complaint *c, const char *path, const char *text, cyaml_err_t rc,
                    struct err *e)
{
    const char *key = c->key.len ? c->key.s : "";
    int line = complaint_line(c, text);
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, path);
    if (line)
        strbuf_printf(&b, ":%d", line);
    strbuf_printf(&b, ": %s%s%s", key, *key ? ": " : "", c->what[0] ? c->what : cyaml_strerror(rc));
    advise(c->what, key, &b);
    err_set(e, ERR_CONFIG, NULL, "%s", b.s);
    strbuf_free(&b);
    return -1;
}

static cyaml_schema_value_t value_schema(const struct setting *s)
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
        v.type = CYAML_SEQUENCE;
        v.data_size = sizeof(char *);
        v.sequence.entry = &string_entry;
        v.sequence.max = 1000;
        break;
    }
    return v;
}

/* The mapping of a section, made at its first setting. All mappings lie at offset 0 of struct raw,
 * so that a setting's offset is that of its slot wherever it stands. */
static cyaml_schema_field_t *section_fields(struct schema *sc, const char *section, size_t *n_top)
{
    size_t i = 0, used = 0;
    for (; i < *n_top; i++) {
        bool mapping = sc->top[i].value.type == CYAML_MAPPING;
        if (mapping && strcmp(sc->top[i].key, section) == 0)
            return sc->sections[used];
        used += mapping;
    }
    if (used == MAX_SECTIONS)
        abort();
    sc->top[(*n_top)++] = (cyaml_schema_field_t){
        .key = section,
        .value = {.type = CYAML_MAPPING,
                  .flags = CYAML_FLAG_OPTIONAL,
                  .data_size = sizeof(struct raw),
                  .mapping.fields = sc->sections[used]},
    };
    return sc->sections[used];
}

static void build_schema(struct schema *sc)
{
    if (config_n_settings > MAX_SETTINGS)
        abort();
    memset(sc, 0, sizeof *sc);
    size_t n_top = 0;
    for (size_t i = 0; i < config_n_settings; i++) {
        const struct setting *s = &config_settings[i];
        cyaml_schema_field_t *f = &sc->top[n_top];
        if (*s->section) {
            f = section_fields(sc, s->section, &n_top);
            while (f->key)
                f++;
        } else {
            n_top++;
        }
        f->key = s->key;
        f->data_offset = (uint32_t)(offsetof(struct raw, slots) + i * sizeof(struct slot));
        f->count_offset = f->data_offset + (uint32_t)offsetof(struct slot, count);
        f->count_size = sizeof(uint64_t);
        f->value = value_schema(s);
    }
    sc->root = (cyaml_schema_value_t){.type = CYAML_MAPPING,
                                      .flags = CYAML_FLAG_POINTER,
                                      .data_size = sizeof(struct raw),
                                      .mapping.fields = sc->top};
}

/* Where a file sets `s`, or where its section begins; 0 if it cannot be told. */
static int line_of(const char *text, const struct setting *s)
{
    int line = key_line(text, s->section, s->key, 1);
    return line || !*s->section ? line : key_line(text, "", s->section, 1);
}

static struct config_list split(const char *text)
{
    struct config_list l = {0};
    while (*text) {
        size_t n = strcspn(text, " ");
        l.items = xrealloc(l.items, (l.n + 1) * sizeof *l.items);
        l.items[l.n] = xcalloc(1, n + 1);
        memcpy(l.items[l.n++], text, n);
        text += n + strspn(text + n, " ");
    }
    return l;
}

static struct config_list copy_list(const struct slot *slot)
{
    char **items = slot->value;
    struct config_list l = {.items = xcalloc(slot->count + 1, sizeof(char *)), .n = slot->count};
    for (size_t i = 0; i < l.n; i++)
        l.items[i] = xstrdup(items[i] ? items[i] : "");
    return l;
}

/* Decimal only: to some readers of YAML 010 is 8, to others 10. */
static int parse_int(const char *text, const struct setting *s, int64_t *out, struct err *e)
{
    const char *digits = text + (*text == '-');
    size_t n = strspn(digits, "0123456789");
    if (n == 0 || digits[n] || (n > 1 && *digits == '0'))
        return err_set(e, ERR_CONFIG, NULL,
                       "'%s' is no whole number; use one from %lld to %lld in decimal digits", text,
                       (long long)s->min, (long long)s->max);
    errno = 0;
    long long v = strtoll(text, NULL, 10);
    if (errno || v < s->min || v > s->max)
        return err_set(e, ERR_CONFIG, NULL, "%s is out of range; use %lld to %lld", text,
                       (long long)s->min, (long long)s->max);
    *out = v;
    return 0;
}

static int set_value(struct config *c, const struct setting *s, const struct slot *slot,
                     struct err *e)
{
    void *at = (char *)c + s->offset;
    switch (s->type) {
    case SETTING_INT:
        return parse_int(slot->value ? slot->value : s->initial, s, at, e);
    case SETTING_BOOL:
        *(bool *)at = slot->value ? *(bool *)slot->value : strcmp(s->initial, "true") == 0;
        return 0;
    case SETTING_STR:
        *(char **)at = xstrdup(slot->value ? slot->value : s->initial);
        return 0;
    case SETTING_LIST:
        *(struct config_list *)at = slot->value ? copy_list(slot) : split(s->initial);
        return 0;
    }
    return 0;
}

static int check_value(const struct config *c, const struct setting *s, struct err *e)
{
    const void *at = (const char *)c + s->offset;
    if (s->type == SETTING_STR && s->check)
        return s->check(*(char *const *)at, e);
    const struct config_list *l = at;
    for (size_t i = 0; s->type == SETTING_LIST && i < l->n; i++)
        if (s->check(l->items[i], e) < 0)
            return -1;
    return 0;
}

static int take_all(struct config *c, const struct raw *raw, const char *path, const char *text,
                    struct err *e)
{
    for (size_t i = 0; i < config_n_settings; i++) {
        const struct setting *s = &config_settings[i];
        if (set_value(c, s, &raw->slots[i], e) == 0 && check_value(c, s, e) == 0)
            continue;
        err_prefix(e, "%s%s%s", s->section, *s->section ? "." : "", s->key);
        int line = line_of(text, s);
        return line ? err_prefix(e, "%s:%d", path, line) : err_prefix(e, "%s", path);
    }
    return 0;
}

/* A file of blanks and comments is no YAML document to libcyaml, but to people it is one that sets
 * nothing. */
static bool says_nothing(const char *text)
{
    while (*text) {
        text += strspn(text, " \t\r\n");
        if (*text == '#')
            text += strcspn(text, "\n");
        else if (strncmp(text, "---", 3) == 0)
            text += 3;
        else if (*text)
            return false;
    }
    return true;
}

static int parse(const char *path, const char *text, size_t len, const struct schema *sc,
                 struct raw **raw, struct err *e)
{
    struct complaint heard = {.what = ""};
    const cyaml_config_t how = {
        .log_fn = hear, .log_ctx = &heard, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR};
    cyaml_err_t rc =
        cyaml_load_data((const uint8_t *)text, len, &how, &sc->root, (cyaml_data_t **)raw, NULL);
    int result = rc == CYAML_OK ? 0 : complain(&heard, path, text, rc, e);
    strbuf_free(&heard.key);
    return result;
}

int config_load(const char *path, struct config *out, struct err *e)
{
    struct schema sc;
    build_schema(&sc);
    struct raw *raw = NULL;
    const struct raw nothing = {.slots = {{0}}};
    char *text = NULL;
    size_t len = 0;
    int rc = -1;
    memset(out, 0, sizeof *out);

    if (path && fs_read(path, MAX_FILE, &text, &len, e) < 0) {
        e->code = ERR_CONFIG;
        goto out;
    }
    if (text && !says_nothing(text) && parse(path, text, len, &sc, &raw, e) < 0)
        goto out;
    rc = take_all(out, raw ? raw : &nothing, path ? path : "(defaults)", text, e);
    if (rc < 0)
        config_free(out);
out:
    if (raw) {
        const cyaml_config_t how = {.mem_fn = cyaml_mem};
        cyaml_free(&how, &sc.root, raw, 0);
    }
    free(text);
    return rc;
}

void config_free(struct config *c)
{
    for (size_t i = 0; i < config_n_settings; i++) {
        void *at = (char *)c + config_settings[i].offset;
        if (config_settings[i].type == SETTING_STR) {
            free(*(char **)at);
        } else if (config_settings[i].type == SETTING_LIST) {
            struct config_list *l = at;
            for (size_t k = 0; k < l->n; k++)
                free(l->items[k]);
            free(l->items);
        }
    }
    memset(c, 0, sizeof *c);
}
