/* SPDX-License-Identifier: MIT
 *
 * Commands inside cmd that need no files: echo, set, exit, cd, call and others.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/version.h"
#include "nodeagent-proto/windows/windows_priv.h"

static const char *skip(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == ',' || *p == ';' || *p == '=')
        p++;
    return p;
}

/* `text` without blanks at its end. */
static char *without_end(struct shell *sh, const char *text)
{
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\r'))
        n--;
    return arena_strndup(sh->arena, text, n);
}

/* One character, of any kind, separates echo from its text; blanks after this character belong to
 * the text. */
static int echo(struct shell *sh, const char *rest)
{
    char *trimmed = without_end(sh, skip(rest));
    bool bare = *rest == ' ' || *rest == '\t' || !*rest;
    if (bare && !*trimmed)
        puts("ECHO is on.");
    else if (!bare || (same_name(trimmed, "on") != 0 && same_name(trimmed, "off") != 0))
        puts(*rest ? rest + 1 : "");
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return same_name(((const struct cmd_variable *)a)->name,
                     ((const struct cmd_variable *)b)->name);
}

/* Prints all variables whose names begin with `prefix`. */
static int set_show(struct shell *sh, const char *prefix)
{
    size_t n = strlen(prefix), found = 0;
    struct variables *v = &sh->variables;
    if (v->count > 0)
        qsort(v->all, v->count, sizeof *v->all, by_name);
    for (size_t i = 0; i < v->count; i++)
        if (strncasecmp(v->all[i].name, prefix, n) == 0) {
            printf("%s=%s\n", v->all[i].name, v->all[i].value);
            found++;
        }
    return found > 0 ? 0 : complain("Environment variable %s not defined", prefix);
}

/* --- set /a: whole numbers, variables, + - * / % and ( ) --- */

struct sum {
    struct shell *sh;
    const char *p;
    int depth;
    bool wrong;
};

static long add_up(struct sum *s);

static char next(struct sum *s)
{
    while (*s->p == ' ' || *s->p == '\t')
        s->p++;
    return *s->p;
}

static long factor(struct sum *s)
{
    char c = next(s);
    long value = 0;
    if (++s->depth > WINDOWS_DEPTH || !c) {
        s->wrong = true;
    } else if (c == '-' || c == '+') {
        s->p++;
        value = c == '-' ? (long)(0 - (unsigned long)factor(s)) : factor(s);
    } else if (c == '(') {
        s->p++;
        value = add_up(s);
        s->wrong |= next(s) != ')';
        s->p += !s->wrong;
    } else if (isdigit((unsigned char)c)) {
        char *end;
        value = strtol(s->p, &end, 0);
        s->p = end;
    } else {
        size_t n = strcspn(s->p, " \t+-*/%()=,");
        const char *text = variables_get(&s->sh->variables, arena_strndup(s->sh->arena, s->p, n));
        value = text ? strtol(text, NULL, 0) : 0;
        s->wrong |= n == 0;
        s->p += n;
    }
    s->depth--;
    return (int)value; /* 32 bits, as in cmd */
}

static long multiply(struct sum *s)
{
    long a = factor(s);
    for (char c; !s->wrong && ((c = next(s)) == '*' || c == '/' || c == '%');) {
        s->p++;
        long b = factor(s);
        if (c != '*' && b == 0)
            s->wrong = true;
        else
            a = (int)(c == '*' ? a * b : c == '/' ? a / b : a % b);
    }
    return a;
}

static long add_up(struct sum *s)
{
    long a = multiply(s);
    for (char c; !s->wrong && ((c = next(s)) == '+' || c == '-');) {
        s->p++;
        long b = multiply(s);
        a = (int)(c == '+' ? a + b : a - b);
    }
    return a;
}

/* Computes NAME=SUM, NAME+=SUM and so on, or only a sum; commas separate several of these. */
static int set_sums(struct shell *sh, const char *text)
{
    struct sum s = {.sh = sh, .p = text};
    for (;;) {
        next(&s);
        size_t n = strcspn(s.p, " \t+-*/%()=,");
        const char *name = arena_strndup(sh->arena, s.p, n), *sign = s.p + n;
        while (*sign == ' ')
            sign++;
        bool with = *sign && strchr("+-*/%", *sign) && sign[1] == '=';
        const char *sum = NULL;
        if (n > 0 && !isdigit((unsigned char)*name) && (with || (*sign == '=' && sign[1] != '=')))
            sum = sign + (with ? 2 : 1);
        if (with && sum)
            sum = arena_concat(sh->arena, name, arena_strndup(sh->arena, sign, 1), "(",
                               arena_strndup(sh->arena, sum, strcspn(sum, ",")), ")",
                               sum + strcspn(sum, ","));
        s.p = sum ? sum : s.p;
        long value = add_up(&s);
        if (s.wrong || (next(&s) && *s.p != ','))
            return complain("Missing operand.");
        if (sum)
            variables_set(&sh->variables, name, arena_printf(sh->arena, "%ld", value));
        if (*s.p != ',')
            return 0;
        s.p++;
    }
}

/* set, set PREFIX, set NAME=VALUE, set "NAME=VALUE", set /a SUM */
static int set(struct shell *sh, const char *rest)
{
    const char *p = skip(rest);
    if (p[0] == '/' && tolower((unsigned char)p[1]) == 'a')
        return set_sums(sh, unquote(sh->arena, p + 2));
    if (p[0] == '/' && tolower((unsigned char)p[1]) == 'p')
        return complain("set /p has nobody to ask here.");
    char *text = arena_strdup(sh->arena, p), *last = strrchr(text, '"');
    if (*text == '"') {
        text++;
        if (last >= text)
            *last = '\0';
    }
    char *equals = strchr(text, '=');
    if (!equals)
        return set_show(sh, without_end(sh, text));
    *equals = '\0';
    if (!*text)
        return complain("The syntax of the command is incorrect.");
    variables_set(&sh->variables, text, equals[1] ? equals + 1 : NULL);
    return 0;
}

/* exit [/b] [CODE] */
static int leave(struct shell *sh, const char *rest)
{
    char **words = words_split(sh->arena, rest);
    bool batch = words[0] && same_name(words[0], "/b") == 0;
    words += batch;
    if (words[0])
        sh->level = (int)strtol(words[0], NULL, 10);
    sh->leaving = batch ? LEAVES_BATCH : LEAVES_ALL;
    return sh->level;
}

/* cd [/d] [FOLDER] */
static int change_folder(struct shell *sh, const char *rest)
{
    const char *p = skip(rest);
    if (p[0] == '/' && tolower((unsigned char)p[1]) == 'd' && (!p[2] || p[2] == ' '))
        p = skip(p + 2);
    char *name = unquote(sh->arena, without_end(sh, p));
    if (!*name) {
        puts(shell_value(sh, "CD"));
        return 0;
    }
    const char *path = path_of(sh, name);
    if (!path)
        return 1;
    return chdir(path) == 0 ? 0 : complain("The system cannot find the path specified.");
}

/* Expands the line once more, so that `call echo %NAME%` prints the value that was set on the same
 * line. A called batch file returns to its caller. */
static int call(struct shell *sh, const char *rest)
{
    const char *what = skip(rest), *after;
    if (*what == ':') {
        char *label = words_first(sh->arena, what, &after);
        return batch_call(sh, label, after);
    }
    struct batch_file *ours = sh->batch;
    int code = sh->ways->run_text(sh, what);
    sh->batch = ours;
    if (sh->leaving == LEAVES_BATCH && ours)
        sh->leaving = LEAVES_NOTHING;
    return code;
}

/* timeout /t SECONDS */
static int wait_some(struct shell *sh, const char *rest)
{
    char **words = words_split(sh->arena, rest);
    for (size_t i = 0; words[i]; i++) {
        char *end;
        const char *number = same_name(words[i], "/t") == 0 && words[i + 1] ? words[++i] : words[i];
        long seconds = strtol(number, &end, 10);
        if (!*end && end != number && seconds >= 0) {
            fflush(stdout);
            sleep((unsigned)seconds);
            return 0;
        }
    }
    return complain("ERROR: Invalid syntax.");
}

/* start [/wait] [/b] ["TITLE"] PROGRAM: always waits, because no process may outlive a task's
 * command line. */
static int start(struct shell *sh, const char *rest)
{
    const char *p = skip(rest), *after;
    while (*p == '/' || *p == '"') {
        (void)words_first(sh->arena, p, &after);
        p = skip(after);
    }
    return *p ? sh->ways->run_text(sh, p) : 0;
}

static int nothing(struct shell *sh, const char *rest)
{
    (void)sh;
    (void)rest;
    return 0;
}

static int version(struct shell *sh, const char *rest)
{
    (void)sh;
    (void)rest;
    puts("\nMicrosoft Windows command lines on Linux [batchai-cmd " BATCHAID_VERSION "]");
    return 0;
}

builtin_fn builtin_named(const char *name)
{
    static const struct {
        const char *name;
        builtin_fn run;
    } all[] = {
        {"echo", echo},           {"set", set},       {"exit", leave},        {"cd", change_folder},
        {"chdir", change_folder}, {"call", call},     {"timeout", wait_some}, {"start", start},
        {"rem", nothing},         {"cls", nothing},   {"title", nothing},     {"setlocal", nothing},
        {"endlocal", nothing},    {"color", nothing}, {"chcp", nothing},      {"ver", version},
        {"goto", batch_goto},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (same_name(name, all[i].name) == 0)
            return all[i].run;
    return NULL;
}
