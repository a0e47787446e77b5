/* SPDX-License-Identifier: MIT */
#include "model/failure.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/strbuf.h"

/* Length of the character at `s`, or 0 if these bytes are no UTF-8. */
static size_t utf8_length(const char *s)
{
    for (size_t n = 1; n <= 4 && s[n - 1]; n++) {
        json_t *v = json_stringn(s, n);
        json_decref(v);
        if (v)
            return n;
    }
    return 0;
}

/* stderr of a job is bytes, JSON wants UTF-8: bytes that are none become U+FFFD. */
static json_t *utf8_string(const char *s)
{
    json_t *v = json_string(s);
    if (v)
        return v;
    struct strbuf b = STRBUF_INIT;
    while (*s) {
        size_t n = utf8_length(s);
        if (n)
            strbuf_add(&b, s, n);
        else
            strbuf_puts(&b, "\xef\xbf\xbd");
        s += n ? n : 1;
    }
    char *text = strbuf_take(&b);
    v = json_string(text);
    free(text);
    return v;
}

static void add_detail(json_t *details, const char *name, const char *value)
{
    if (value && *value)
        json_array_append_new(details,
                              json_pack("{s:s, s:o}", "name", name, "value", utf8_string(value)));
}

static void add_number(json_t *details, const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    add_detail(details, name, text);
}

static json_t *failure_json(const struct failure *f)
{
    json_t *details = json_array();
    add_detail(details, "node", f->node);
    add_detail(details, "step", f->step);
    add_detail(details, "command", f->command);
    if (f->exit_code >= 0)
        add_number(details, "exitCode", f->exit_code);
    if (f->signal > 0)
        add_number(details, "signal", f->signal);
    add_detail(details, "stderr", f->stderr_tail);
    add_detail(details, "remedy", f->remedy);
    json_t *entry = json_pack("{s:s, s:o}", "code", f->code, "message", utf8_string(f->message));
    if (json_array_size(details) > 0)
        json_object_set_new(entry, "details", details);
    else
        json_decref(details);
    return entry;
}

/* The stored array, or a new empty one: text that is not an array was never written by us. */
static json_t *load_errors(const char *errors)
{
    json_t *list = errors ? json_loads(errors, 0, NULL) : NULL;
    if (json_is_array(list))
        return list;
    json_decref(list);
    return json_array();
}

static const char *dump_and_free(struct arena *a, json_t *list)
{
    char *text = json_dumps(list, JSON_COMPACT);
    json_decref(list);
    if (!text)
        abort();
    const char *copy = arena_strdup(a, text);
    free(text);
    return copy;
}

const char *failure_append(struct arena *a, const char *errors, const struct failure *f)
{
    json_t *list = load_errors(errors);
    json_array_append_new(list, failure_json(f));
    return dump_and_free(a, list);
}

const char *failure_merge(struct arena *a, const char *errors, const char *more)
{
    if (!errors && !more)
        return NULL;
    json_t *list = load_errors(errors), *tail = load_errors(more);
    json_array_extend(list, tail);
    json_decref(tail);
    return dump_and_free(a, list);
}

static const char *text_of_last(struct arena *a, const char *errors, const char *key)
{
    json_t *list = load_errors(errors);
    size_t n = json_array_size(list);
    const json_t *last = n > 0 ? json_array_get(list, n - 1) : NULL;
    const char *text = arena_strdup(a, json_string_value(json_object_get(last, key)));
    json_decref(list);
    return text;
}

const char *failure_message(struct arena *a, const char *errors)
{
    return text_of_last(a, errors, "message");
}

const char *failure_code(struct arena *a, const char *errors)
{
    return text_of_last(a, errors, "code");
}

const char *failure_line(struct arena *a, const struct failure *f)
{
    struct strbuf where = STRBUF_INIT;
    if (f->node)
        strbuf_printf(&where, ", node %s", f->node);
    if (f->step)
        strbuf_printf(&where, ", step %s", f->step);
    if (f->exit_code >= 0)
        strbuf_printf(&where, ", exit code %d", f->exit_code);
    if (f->signal > 0)
        strbuf_printf(&where, ", signal %d", f->signal);
    const char *line = where.len ? arena_printf(a, "%s: %s (%s)", f->code, f->message, where.s + 2)
                                 : arena_printf(a, "%s: %s", f->code, f->message);
    strbuf_free(&where);
    return line;
}

static void put_indented(struct strbuf *b, const char *title, const char *text)
{
    if (!text || !*text)
        return;
    strbuf_printf(b, "    %s: ", title);
    for (const char *p = text; *p; p++) {
        strbuf_putc(b, *p);
        if (*p == '\n' && p[1])
            strbuf_puts(b, "        ");
    }
    if (b->s[b->len - 1] != '\n')
        strbuf_putc(b, '\n');
}

const char *failure_text(struct arena *a, const struct failure *f)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_printf(&b, "%s\n", failure_line(a, f));
    put_indented(&b, "command", f->command);
    put_indented(&b, "stderr", f->stderr_tail);
    put_indented(&b, "remedy", f->remedy);
    const char *text = arena_strdup(a, b.s);
    strbuf_free(&b);
    return text;
}
