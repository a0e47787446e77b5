/* SPDX-License-Identifier: MIT
 *
 * A command line of az as words and options.
 */
#include "daemon/cli/az_line.h"

#include <ctype.h>
#include <string.h>

#include "lib/shell.h"

/* Options whose values must not be shown. */
#define SECRETS "-p --password --storage-account-key --account-key --value --client-secret"

/* Short options of az that take no value: "-yh" is not "-y" with the value "h". */
#define FLAGS "hy"

static bool is_option(const char *arg)
{
    return arg[0] == '-' && (isalpha((unsigned char)arg[1]) || arg[1] == '-');
}

static struct az_option *add(struct az_line *l, const char *name)
{
    struct az_option *o = &l->options[l->n++];
    *o = (struct az_option){.name = name};
    return o;
}

static void add_value(struct az_line *l, struct az_option *o, const char *value)
{
    const char **values = arena_alloc(l->arena, (o->n + 1) * sizeof *values);
    if (o->n > 0)
        memcpy(values, o->values, o->n * sizeof *values);
    values[o->n++] = value;
    o->values = values;
}

static void read_option(struct az_line *l, const char *arg)
{
    const char *equals = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
    bool attached = arg[1] != '-' && arg[1] && arg[2] && !strchr(FLAGS, arg[1]);
    if (equals)
        add_value(l, add(l, arena_strndup(l->arena, arg, (size_t)(equals - arg))), equals + 1);
    else if (attached)
        add_value(l, add(l, arena_strndup(l->arena, arg, 2)), arg + 2 + (arg[2] == '='));
    else
        add(l, arg);
}

void az_line_read(struct arena *a, char *const *args, size_t n, struct az_line *out)
{
    *out = (struct az_line){.arena = a};
    out->words = arena_alloc(a, (n + 1) * sizeof *out->words);
    out->options = arena_alloc(a, (n + 1) * sizeof *out->options);
    for (size_t i = 0; i < n; i++) {
        if (is_option(args[i]))
            read_option(out, args[i]);
        else if (out->n == 0)
            out->words[out->n_words++] = args[i];
        else
            add_value(out, &out->options[out->n - 1], args[i]);
    }
}

const char *az_line_words(const struct az_line *l)
{
    const char *text = "";
    for (size_t i = 0; i < l->n_words; i++)
        text = arena_concat(l->arena, text, i ? " " : "", l->words[i]);
    return text;
}

static size_t split(struct arena *a, const char *text, const char ***out)
{
    size_t n = 0;
    *out = arena_alloc(a, (strlen(text) / 2 + 1) * sizeof **out);
    for (const char *s = text + strspn(text, " "); *s; s += strspn(s, " ")) {
        size_t len = strcspn(s, " ");
        (*out)[n++] = arena_strndup(a, s, len);
        s += len;
    }
    return n;
}

bool az_line_reword(struct az_line *l, const char *from, const char *to)
{
    const char **old, **new;
    size_t n = split(l->arena, from, &old), m = split(l->arena, to, &new);
    if (n > l->n_words)
        return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(old[i], l->words[i]) != 0)
            return false;
    const char **words = arena_alloc(l->arena, (m + l->n_words - n + 1) * sizeof *words);
    memcpy(words, new, m * sizeof *words);
    memcpy(words + m, l->words + n, (l->n_words - n) * sizeof *words);
    l->words = words;
    l->n_words = m + l->n_words - n;
    return true;
}

void az_line_of(struct arena *a, const char *words, struct az_line *out)
{
    *out = (struct az_line){.arena = a};
    out->n_words = split(a, words, &out->words);
}

static bool among(const char *names, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = names; *s; s += strspn(s, " ")) {
        size_t len = strcspn(s, " ");
        if (len == n && memcmp(s, name, n) == 0)
            return true;
        s += len;
    }
    return false;
}

struct az_option *az_line_find(const struct az_line *l, const char *names)
{
    for (size_t i = 0; i < l->n; i++)
        if (among(names, l->options[i].name))
            return &l->options[i];
    return NULL;
}

const char *az_line_value(const struct az_line *l, const char *names)
{
    const struct az_option *o = az_line_find(l, names);
    return o && o->n > 0 ? o->values[0] : NULL;
}

void az_line_drop(struct az_line *l, const char *names)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->n; i++)
        if (!among(names, l->options[i].name))
            l->options[kept++] = l->options[i];
    l->n = kept;
}

void az_line_put(struct az_line *l, const char *name, const char *value)
{
    struct az_option *options = arena_alloc(l->arena, (l->n + 1) * sizeof *options);
    if (l->n > 0)
        memcpy(options, l->options, l->n * sizeof *options);
    l->options = options;
    struct az_option *o = add(l, arena_strdup(l->arena, name));
    if (value)
        add_value(l, o, arena_strdup(l->arena, value));
}

/* Whether a value must be joined to its option with "=", because it begins with a dash, and az
 * takes a separate word that begins with a dash for an option. */
static bool is_joined(const struct az_option *o)
{
    return o->n == 1 && o->values[0][0] == '-' && o->values[0][1];
}

const char **az_line_args(const struct az_line *l)
{
    size_t n = 1 + l->n_words;
    for (size_t i = 0; i < l->n; i++)
        n += 1 + l->options[i].n;
    const char **args = arena_alloc(l->arena, (n + 1) * sizeof *args);
    n = 0;
    args[n++] = "az";
    for (size_t i = 0; i < l->n_words; i++)
        args[n++] = l->words[i];
    for (size_t i = 0; i < l->n; i++) {
        const struct az_option *o = &l->options[i];
        bool joined = is_joined(o);
        args[n++] = joined ? arena_concat(l->arena, o->name, "=", o->values[0]) : o->name;
        for (size_t k = joined; k < o->n; k++)
            args[n++] = o->values[k];
    }
    return args;
}

/* Like shell_quote(), but adds no quotes if none are needed. */
static void show(struct strbuf *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:,@%+=<>()";
    /* a process substitution "<(...)" is shown without quotes */
    bool redirects = strncmp(text, "<(", 2) == 0;
    if (*text && (redirects || (text[strspn(text, plain)] == '\0' && !strpbrk(text, "<>()"))))
        strbuf_puts(out, text);
    else
        shell_quote(out, text);
}

void az_line_show(const struct az_line *l, struct strbuf *out)
{
    strbuf_puts(out, "az");
    for (size_t i = 0; i < l->n_words; i++) {
        strbuf_putc(out, ' ');
        show(out, l->words[i]);
    }
    for (size_t i = 0; i < l->n; i++) {
        const struct az_option *o = &l->options[i];
        strbuf_concat(out, " ", o->name);
        for (size_t k = 0; k < o->n; k++) {
            strbuf_putc(out, is_joined(o) ? '=' : ' ');
            if (among(SECRETS, o->name))
                strbuf_puts(out, "...");
            else
                show(out, o->values[k]);
        }
    }
}
