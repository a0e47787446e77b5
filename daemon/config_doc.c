/* SPDX-License-Identifier: MIT
 *
 * The table of settings as text: for people, as an example file, for the man page and for
 * docs/configuration.md. `make docs-update` writes the generated parts; a test finds stale ones.
 */
#include <stdio.h>
#include <string.h>

#include "daemon/config.h"

/* As it would stand in the file. */
static void put_initial(const struct setting *s, struct strbuf *b)
{
    if (s->type == SETTING_LIST)
        strbuf_printf(b, *s->initial ? "[\"%s\"]" : "[]", s->initial);
    else if (s->type == SETTING_STR && !*s->initial)
        strbuf_puts(b, "\"\"");
    else
        strbuf_puts(b, s->initial);
}

static void put_range(const struct setting *s, struct strbuf *b)
{
    if (s->type == SETTING_INT)
        strbuf_printf(b, ", %lld to %lld", (long long)s->min, (long long)s->max);
}

static void put_name(const struct setting *s, struct strbuf *b)
{
    strbuf_printf(b, "%s%s%s", s->section, *s->section ? "." : "", s->key);
}

/* Words of `text` in lines of at most `width`, each after `lead`. */
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

static void text_row(const struct setting *s, bool first, struct strbuf *b)
{
    if (!first)
        strbuf_putc(b, '\n');
    put_name(s, b);
    strbuf_printf(b, " (%s", config_type_name(s->type));
    put_range(s, b);
    strbuf_puts(b, "; default ");
    put_initial(s, b);
    strbuf_puts(b, ")\n");
    put_wrapped(s->help, "    ", 90, b);
}

/* A file that sets everything to its default. */
static void yaml_row(const struct setting *s, bool first, struct strbuf *b)
{
    const struct setting *before = first ? NULL : s - 1;
    strbuf_putc(b, '\n');
    if (*s->section && (!before || strcmp(before->section, s->section) != 0))
        strbuf_printf(b, "%s:\n", s->section);
    put_wrapped(s->help, *s->section ? "  # " : "# ", 100, b);
    strbuf_printf(b, "%s%s: ", *s->section ? "  " : "", s->key);
    put_initial(s, b);
    strbuf_putc(b, '\n');
}

static void man_row(const struct setting *s, bool first, struct strbuf *b)
{
    (void)first;
    strbuf_puts(b, ".It Cm ");
    put_name(s, b);
    strbuf_printf(b, "\n.Pq %s", config_type_name(s->type));
    put_range(s, b);
    strbuf_puts(b, "; default: ");
    if (s->type == SETTING_STR && !*s->initial) /* "" is an empty argument to mdoc */
        strbuf_puts(b, "empty");
    else
        put_initial(s, b);
    strbuf_putc(b, '\n');
    /* A sentence starts a line of its own. */
    for (const char *p = s->help; *p;) {
        const char *end = strstr(p, ". ");
        size_t n = end ? (size_t)(end - p) + 1 : strlen(p);
        /* No line may begin with a dot or a quote, nor have a dash be typeset as a hyphen. */
        for (size_t i = 0; i < n; i++)
            strbuf_printf(b, p[i] == '-' ? "\\-" : "%c", p[i]);
        strbuf_putc(b, '\n');
        p += n;
        p += strspn(p, " ");
    }
}

static void markdown_row(const struct setting *s, bool first, struct strbuf *b)
{
    if (first)
        strbuf_puts(b, "| key | what it is | default | |\n| --- | --- | --- | --- |\n");
    strbuf_puts(b, "| `");
    put_name(s, b);
    strbuf_printf(b, "` | %s", config_type_name(s->type));
    put_range(s, b);
    strbuf_puts(b, " | `");
    put_initial(s, b);
    strbuf_printf(b, "` | %s |\n", s->help);
}

static const struct {
    const char *name, *intro;
    void (*row)(const struct setting *, bool first, struct strbuf *);
} formats[] = {
    {"text", "Settings of the configuration file (batchaid serve --config FILE):\n\n", text_row},
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
        for (size_t i = 0; i < config_n_settings; i++)
            formats[f].row(&config_settings[i], i == 0, out);
        return true;
    }
    return false;
}
