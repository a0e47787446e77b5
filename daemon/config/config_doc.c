/* SPDX-License-Identifier: MIT
 *
 * Prints the table of settings: for people, as an example file, for the man page, and for
 * docs/configuration.md. Also finds the pages of the docs. `make docs-update` writes the generated
 * parts; a test fails if they are out of date.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/config/config_table.h"
#include "lib/fs.h"

/* A row, and the list of records to which it belongs (`outer`; NULL: none). */
struct doc_row {
    const struct setting *s, *outer;
    bool first;
    const struct setting *before; /* the previous row; NULL for the first of its table */
};

/* Adds the default value in the file's syntax. */
static void put_initial(const struct setting *s, struct strbuf *b)
{
    if (s->type == SETTING_LIST || s->type == SETTING_TEXTS || s->type == SETTING_RECORDS) {
        strbuf_putc(b, '[');
        for (const char *p = s->initial; *p;) {
            size_t n = strcspn(p, " ");
            strbuf_printf(b, "%s\"%.*s\"", p == s->initial ? "" : ", ", (int)n, p);
            p += n + strspn(p + n, " ");
        }
        strbuf_putc(b, ']');
    } else {
        bool quoted = s->type == SETTING_STR && (!*s->initial || *s->initial == '*');
        strbuf_printf(b, quoted ? "\"%s\"" : "%s", s->initial);
    }
}

static void put_type(const struct setting *s, struct strbuf *b)
{
    config_put_type(s, b);
    if (s->type == SETTING_INT)
        strbuf_printf(b, ", %lld to %lld", (long long)s->min, (long long)s->max);
    if (!s->choices)
        return;
    strbuf_puts(b, ": ");
    config_put_choices(s->choices, b);
}

static void put_live(const struct setting *s, struct strbuf *b)
{
    if (s->live)
        strbuf_puts(b, "; reload");
}

static void put_name(const struct doc_row *r, struct strbuf *b)
{
    const struct setting *s = r->s;
    if (r->outer)
        strbuf_printf(b, "%s[].", r->outer->key);
    strbuf_printf(b, "%s%s%s", s->section, *s->section ? "." : "", s->key);
}

/* Wraps `text` into lines of at most `width`, each after `lead`. */
static void put_wrapped(const char *text, const char *lead, size_t width, struct strbuf *b)
{
    size_t column = 0;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column > 0 && column + 1 + n > width) {
            strbuf_putc(b, '\n');
            column = 0;
        }
        strbuf_puts(b, column ? " " : lead);
        strbuf_add(b, text, n);
        column = (column ? column + 1 : strlen(lead)) + n;
        text += n + strspn(text + n, " ");
    }
    strbuf_putc(b, '\n');
}

/* Adds the default after `word`, or "; required". */
static void put_default(const struct setting *s, const char *word, struct strbuf *b)
{
    if (!s->initial) {
        strbuf_puts(b, "; required");
        return;
    }
    strbuf_puts(b, word);
    put_initial(s, b);
}

static void text_row(const struct doc_row *r, struct strbuf *b)
{
    if (!r->first)
        strbuf_putc(b, '\n');
    put_name(r, b);
    strbuf_puts(b, " (");
    put_type(r->s, b);
    put_default(r->s, "; default ", b);
    put_live(r->s, b);
    strbuf_puts(b, ")\n");
    put_wrapped(r->s->help, "    ", 90, b);
}

static void put_lines(const char *text, const char *lead, struct strbuf *b)
{
    while (*text) {
        size_t n = strcspn(text, "\n") + 1;
        strbuf_puts(b, lead);
        strbuf_add(b, text, n);
        text += n;
    }
}

/* A list of records as a comment: the fields, then an example that can be uncommented. */
static void yaml_records(const struct setting *s, struct strbuf *b)
{
    const struct record_kind *kind = s->record;
    strbuf_putc(b, '\n');
    put_wrapped(s->help, "# ", 100, b);
    for (size_t i = 0; i < kind->fields.n; i++) {
        const struct setting *f = &kind->fields.rows[i];
        strbuf_printf(b, "#\n#   %s (", f->key);
        put_type(f, b);
        put_default(f, "; default ", b);
        strbuf_puts(b, ")\n");
        put_wrapped(f->help, "#     ", 100, b);
    }
    strbuf_printf(b, "#\n# %s:\n", s->key);
    put_lines(kind->example, "#   ", b);
}

/* Adds the setting with its default value, as a part of the example file. */
static void yaml_row(const struct doc_row *r, struct strbuf *b)
{
    const struct setting *s = r->s;
    if (r->outer)
        return;
    if (s->record) {
        yaml_records(s, b);
        return;
    }
    strbuf_putc(b, '\n');
    if (*s->section && (!r->before || strcmp(r->before->section, s->section) != 0))
        strbuf_printf(b, "%s:\n", s->section);
    put_wrapped(s->help, *s->section ? "  # " : "# ", 100, b);
    strbuf_printf(b, "%s%s: ", *s->section ? "  " : "", s->key);
    put_initial(s, b);
    strbuf_putc(b, '\n');
}

static void man_row(const struct doc_row *r, struct strbuf *b)
{
    const struct setting *s = r->s;
    strbuf_puts(b, ".It Cm ");
    put_name(r, b);
    strbuf_puts(b, "\n.Pq ");
    put_type(s, b);
    /* mdoc cannot show an empty argument */
    if (s->type == SETTING_STR && s->initial && !*s->initial)
        strbuf_puts(b, "; default: empty");
    else
        put_default(s, "; default: ", b);
    put_live(s, b);
    strbuf_putc(b, '\n');
    /* Each sentence begins on a new line. */
    for (const char *p = s->help; *p;) {
        const char *end = strstr(p, ". ");
        size_t n = end ? (size_t)(end - p) + 1 : strlen(p);
        /* A line must not begin with a dot or a quote, and "\\-" keeps a dash from being typeset as
         * a hyphen. */
        for (size_t i = 0; i < n; i++)
            strbuf_printf(b, p[i] == '-' ? "\\-" : "%c", p[i]);
        strbuf_putc(b, '\n');
        p += n;
        p += strspn(p, " ");
    }
}

static void markdown_row(const struct doc_row *r, struct strbuf *b)
{
    if (r->first)
        strbuf_puts(b, "| key | what it is | default | |\n| --- | --- | --- | --- |\n");
    strbuf_puts(b, "| `");
    put_name(r, b);
    strbuf_puts(b, "` | ");
    put_type(r->s, b);
    put_live(r->s, b);
    if (r->s->initial) {
        strbuf_puts(b, " | `");
        put_initial(r->s, b);
        strbuf_puts(b, "`");
    } else {
        strbuf_puts(b, " | required");
    }
    strbuf_printf(b, " | %s |\n", r->s->help);
}

typedef void row_fn(const struct doc_row *, struct strbuf *);

static void describe_table(const struct settings *table, const struct setting *outer, row_fn *put,
                           struct strbuf *out)
{
    for (size_t i = 0; i < table->n; i++) {
        const struct doc_row r = {.s = &table->rows[i],
                                  .outer = outer,
                                  .first = i == 0 && !outer,
                                  .before = i ? &table->rows[i - 1] : NULL};
        put(&r, out);
        if (r.s->record)
            describe_table(&r.s->record->fields, r.s, put, out);
    }
}

static const struct {
    const char *name, *intro;
    row_fn *row;
} formats[] = {
    {"text",
     "Settings of the configuration file (batchaid serve --config FILE). `batchaid reload` or\n"
     "SIGHUP changes those marked \"reload\"; the others need a restart.\n\n",
     text_row},
    {"yaml",
     "# batchaid.yaml: configuration of `batchaid serve --config FILE`.\n"
     "# Every setting may be left out; here each stands at its default.\n"
     "# Check a file with: batchaid check-config FILE\n",
     yaml_row},
    {"man", "", man_row},
    {"markdown", "", markdown_row},
};

bool config_describe(const char *format, struct strbuf *out)
{
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        if (strcmp(formats[f].name, format) != 0)
            continue;
        strbuf_puts(out, formats[f].intro);
        describe_table(&config_settings, NULL, formats[f].row, out);
        return true;
    }
    return false;
}

/* --- the pages -------------------------------------------------------------------------------- */

char *docs_path_find(void)
{
    /* The place in an installation, and the place beside a build. */
    static const char *const places[] = {"../share/doc/batchaid/operations.md",
                                         "../docs/operations.md"};
    char *self = realpath("/proc/self/exe", NULL), *found = NULL;
    char *slash = self ? strrchr(self, '/') : NULL;
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && !found && i < sizeof places / sizeof places[0]; i++) {
        char *path = fs_join(self, places[i]);
        found = realpath(path, NULL);
        free(path);
    }
    free(self);
    if (found)
        *strrchr(found, '/') = '\0';
    return found;
}
