/* SPDX-License-Identifier: MIT
 *
 * Builds the JSON of failures from the rows of failure_table.h, in the words of the front
 * (model/front_words.h). Texts are in the arena. Pure; any thread.
 */
#include "model/failure.h"

#include <assert.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/jsontext.h"
#include "lib/strbuf.h"

struct failure_row {
    const char *name;
    enum failure_fault fault;
    bool heals, replaceable;
};

#define ROW(id, number, name, fault, heals, replaceable) {name, fault, heals, replaceable},
static const struct failure_row kinds[] = {{"Unknown", FAULT_NOBODY, false, false}, FAILURES(ROW)};
#undef ROW

/* The number of a row must be its place in the table, so new rows are added at the end and no row
 * is removed. */
#define PLACE(id, number, name, fault, heals, replaceable) PLACE_OF_##id,
enum { PLACE_OF_NONE, FAILURES(PLACE) };
#undef PLACE
#define IN_PLACE(id, number, name, fault, heals, replaceable)                                      \
    static_assert(PLACE_OF_##id == (number), #id);
FAILURES(IN_PLACE)
#undef IN_PLACE

/* Returns the row of a code. A number that a newer program wrote has no row here and gets the row
 * of FAIL_NONE. */
static const struct failure_row *kind_of(enum failure_code code)
{
    size_t n = sizeof kinds / sizeof kinds[0];
    size_t i = (unsigned)code < n ? (size_t)code : 0;
    return &kinds[i];
}

const char *failure_name(enum failure_code code)
{
    return kind_of(code)->name;
}

enum failure_fault failure_fault(enum failure_code code)
{
    return kind_of(code)->fault;
}

bool failure_heals(enum failure_code code)
{
    return kind_of(code)->heals;
}

bool failure_replaceable(enum failure_code code)
{
    return kind_of(code)->replaceable;
}

/* Adds a detail with this value, unless it is empty. jsontext_string() makes valid UTF-8 of it,
 * because the stderr of a job can contain any bytes. */
static void add_detail(json_t *details, const char *name, const char *value)
{
    if (value && *value)
        json_array_append_new(
            details, json_pack("{s:s, s:o}", "name", name, "value", jsontext_string(value)));
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
    json_t *entry = json_pack("{s:s, s:o}", "code", failure_name(f->code), "message",
                              jsontext_string(f->message));
    if (json_array_size(details) > 0)
        json_object_set_new(entry, "details", details);
    else
        json_decref(details);
    return entry;
}

int failure_exit_code(const struct failure *f)
{
    static const struct {
        enum failure_code code;
        int exit_code;
    } known[] = {{FAIL_RUN_TIMED_OUT, 124}, {FAIL_RUN_TERMINATED, 128 + SIGTERM}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].code == f->code)
            return known[i].exit_code;
    return 1;
}

/* Parses the stored array. Returns a new empty array if the text is not an array, which should
 * never be stored. */
static json_t *load_errors(const char *errors)
{
    json_t *list = errors ? json_loads(errors, 0, NULL) : NULL;
    if (json_is_array(list))
        return list;
    json_decref(list);
    return json_array();
}

const char *failure_append(struct arena *a, const char *errors, const struct failure *f)
{
    json_t *list = load_errors(errors);
    json_array_append_new(list, failure_json(f));
    return jsontext_new_in(a, list);
}

const char *failure_join(struct arena *a, const char *const *errors, size_t n)
{
    json_t *all = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!errors[i])
            continue;
        json_t *list = load_errors(errors[i]);
        if (all) {
            json_array_extend(all, list);
            json_decref(list);
        } else {
            all = list;
        }
    }
    return all ? jsontext_new_in(a, all) : NULL;
}

/* The most bytes of the end of stderr that a message quotes; the first quoted line may be cut. */
#define TOLD_MAX 500

const char *failure_told(struct arena *a, const struct failure *f)
{
    const char *said = f->stderr_tail ? f->stderr_tail : "";
    size_t n = strlen(said);
    while (n > 0 && strchr(" \t\r\n", said[n - 1]))
        n--;
    size_t from = n > TOLD_MAX ? n - TOLD_MAX : 0;
    if (n == 0)
        return f->message;
    /* The output of a command, or its last part, may not be UTF-8. */
    json_t *clean = jsontext_string(arena_strndup(a, said + from, n - from));
    const char *text =
        arena_concat(a, f->message, "; its stderr ends with: ", json_string_value(clean));
    json_decref(clean);
    return text;
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
    const char *line =
        where.len ? arena_printf(a, "%s: %s (%s)", failure_name(f->code), f->message, where.s + 2)
                  : arena_printf(a, "%s: %s", failure_name(f->code), f->message);
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

/* What the reader of a message should check, by the party at fault. front_text() replaces the words
 * in braces. */
static const char *const places[] = {
    [FAULT_CLIENT] = "the settings of the {run} or the {pool}, or an action of its user",
    [FAULT_NODE] = "the machine, or the network to it",
    [FAULT_SITE] = "the daemon's configuration, or a host or file in it",
    [FAULT_OPERATOR] = "an administrator of the machines, on purpose",
};
static_assert(sizeof places / sizeof places[0] == FAULT_OPERATOR + 1, "a place a fault");

const char *failure_text(struct arena *a, const struct front_words *w, const struct failure *f)
{
    struct strbuf b = STRBUF_INIT;
    const char *place = places[failure_fault(f->code)];
    strbuf_printf(&b, "%s\n", failure_line(a, f));
    put_indented(&b, "command", f->command);
    put_indented(&b, "stderr", f->stderr_tail);
    put_indented(&b, "where to look", place ? front_text(w, a, place) : NULL);
    put_indented(&b, "remedy", f->remedy);
    const char *text = arena_strdup(a, b.s);
    strbuf_free(&b);
    return text;
}
