/* SPDX-License-Identifier: MIT
 *
 * Expands %VARIABLES% and their modifiers, %1 and %~dp0 of batch files, variables of loops, and
 * !VARIABLES! with delayed expansion. Returns NULL for a result longer than WINDOWS_LONGEST.
 * Results are in the shell's arena.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent-proto/windows/windows_priv.h"

static const char *current_folder(struct shell *sh)
{
    char *cwd = getcwd(NULL, 0);
    const char *out = arena_strdup(sh->arena, cwd ? cwd : ".");
    free(cwd);
    return out;
}

static const char *level(struct shell *sh)
{
    return arena_printf(sh->arena, "%d", sh->level);
}

static const char *random_number(struct shell *sh)
{
    unsigned short number = 0;
    if (getentropy(&number, sizeof number) < 0)
        number = (unsigned short)getpid();
    return arena_printf(sh->arena, "%d", number & 0x7fff);
}

static struct tm now(void)
{
    time_t t = time(NULL);
    struct tm tm;
    localtime_r(&t, &tm);
    return tm;
}

static const char *date(struct shell *sh)
{
    char text[32];
    struct tm tm = now();
    size_t n = strftime(text, sizeof text, "%a %m/%d/%Y", &tm);
    return arena_strndup(sh->arena, text, n);
}

static const char *time_of_day(struct shell *sh)
{
    struct tm tm = now();
    return arena_printf(sh->arena, "%2d:%02d:%02d.00", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static const char *host(struct shell *sh)
{
    char name[256] = "";
    (void)gethostname(name, sizeof name - 1);
    return arena_strdup(sh->arena, name);
}

static const char *processors(struct shell *sh)
{
    return arena_printf(sh->arena, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
}

static const char *temporary(struct shell *sh)
{
    const char *dir = variables_get(&sh->variables, "TMPDIR");
    return dir ? dir : "/tmp";
}

static const char *user(struct shell *sh)
{
    return variables_get(&sh->variables, "USER");
}

static const char *home(struct shell *sh)
{
    return variables_get(&sh->variables, "HOME");
}

static const char *system_name(struct shell *sh)
{
    (void)sh;
    return "Windows_NT";
}

static const char *interpreter(struct shell *sh)
{
    (void)sh;
    return "cmd.exe";
}

static const char *command_line(struct shell *sh)
{
    return sh->line;
}

/* Values of variables that are computed, unless the variable was set. */
static const struct {
    const char *name;
    const char *(*value)(struct shell *);
} computed[] = {
    {"CD", current_folder},   {"ERRORLEVEL", level},        {"RANDOM", random_number},
    {"DATE", date},           {"TIME", time_of_day},        {"COMPUTERNAME", host},
    {"TEMP", temporary},      {"TMP", temporary},           {"NUMBER_OF_PROCESSORS", processors},
    {"USERNAME", user},       {"USERPROFILE", home},        {"OS", system_name},
    {"COMSPEC", interpreter}, {"CMDCMDLINE", command_line},
};

const char *shell_value(struct shell *sh, const char *name)
{
    const char *set = variables_get(&sh->variables, name);
    for (size_t i = 0; !set && i < sizeof computed / sizeof *computed; i++)
        if (same_name(name, computed[i].name) == 0)
            set = computed[i].value(sh);
    return set;
}

/* ~START[,LENGTH]; negative numbers count from the end. */
static const char *part_of(struct shell *sh, const char *value, const char *how)
{
    long size = (long)strlen(value), from, n = size;
    char *end;
    from = strtol(how, &end, 10);
    if (*end == ',')
        n = strtol(end + 1, &end, 10);
    if (*end)
        return NULL;
    from = from < 0 ? size + from : from;
    from = from < 0 ? 0 : from > size ? size : from;
    n = n < 0 ? size - from + n : n;
    n = n < 0 ? 0 : n > size - from ? size - from : n;
    return arena_strndup(sh->arena, value + from, (size_t)n);
}

/* FROM=TO: replaces every FROM, without regard to case. "*FROM" also replaces all text before
 * FROM. */
static const char *replaced(struct shell *sh, const char *value, const char *how)
{
    const char *equals = strchr(how + (*how == '*'), '=');
    if (!equals || equals == how)
        return NULL;
    char *from = arena_strndup(sh->arena, how, (size_t)(equals - how));
    bool all_before = *from == '*' && from[1];
    from += all_before;
    size_t n = strlen(from);
    struct strbuf b = STRBUF_INIT;
    for (const char *p = value; *p && b.len <= WINDOWS_LONGEST;) {
        if (strncasecmp(p, from, n) != 0) {
            strbuf_putc(&b, *p++);
            continue;
        }
        strbuf_cut(&b, all_before ? 0 : b.len);
        strbuf_puts(&b, equals + 1);
        p += n;
        if (all_before) {
            strbuf_puts(&b, p);
            break;
        }
    }
    const char *out = arena_strndup(sh->arena, b.s ? b.s : "", b.len);
    strbuf_free(&b);
    return out;
}

/* The value of the text between two % or two !: NAME, NAME:~..., or NAME:...=... NULL: the variable
 * has no value. */
static const char *value_of(struct shell *sh, const char *text, size_t n)
{
    char *name = arena_strndup(sh->arena, text, n);
    const char *whole = shell_value(sh, name);
    char *colon = strchr(name, ':');
    if (whole || !colon || colon == name)
        return whole;
    *colon = '\0';
    const char *value = shell_value(sh, name);
    if (!value)
        return NULL;
    return colon[1] == '~' ? part_of(sh, value, colon + 2) : replaced(sh, value, colon + 1);
}

static const struct loop_variable *loop_named(const struct shell *sh, char letter)
{
    const struct loop_variable *v = sh->loops;
    while (v && v->letter != letter)
        v = v->outer;
    return v;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns the parts of a path that the letters `how` of %~dp0 and the like select, without
 * quotes. */
static const char *part_of_path(struct shell *sh, const char *given, const char *how)
{
    const char *bare = unquote(sh->arena, given), *whole = path_of(sh, bare);
    const char *cwd = whole && *whole != '/' ? current_folder(sh) : NULL;
    if (!*how || !whole)
        return bare;
    whole = cwd ? arena_concat(sh->arena, cwd, "/", whole) : whole;
    const char *name = last_part(whole), *dot = strrchr(name, '.');
    if (strchr(how, 'f'))
        return whole;
    size_t base = dot ? (size_t)(dot - name) : strlen(name);
    return arena_concat(
        sh->arena, strchr(how, 'p') ? arena_strndup(sh->arena, whole, (size_t)(name - whole)) : "",
        strchr(how, 'n') ? arena_strndup(sh->arena, name, base) : "",
        strchr(how, 'x') ? name + base : "");
}

/* %1, %*, %~dp0 of a batch file, at the character after the %. Returns how many characters were
 * read; 0: there is no argument here. */
static size_t batch_argument(struct shell *sh, const char *p, const char **value)
{
    const struct batch_file *b = sh->batch;
    size_t letters = *p == '~' ? 1 + strspn(p + 1, "dpnxfs") : 0;
    if (*p == '*') {
        *value = b->all;
        return 1;
    }
    if (!isdigit((unsigned char)p[letters]))
        return 0;
    *value = "";
    for (int i = 0; b->given[i]; i++)
        if (i == p[letters] - '0')
            *value = b->given[i];
    if (letters > 0)
        *value = part_of_path(sh, p[letters] == '0' ? b->path : *value,
                              arena_strndup(sh->arena, p + 1, letters - 1));
    return letters + 1;
}

/* Special in batch files: %% is %, arguments such as %1, and a variable without a value is empty.
 * Returns how many characters were read; 0: this is no batch file, or no % is here. */
static size_t batch_special(struct shell *sh, const char *p, const char **value)
{
    if (!sh->batch || *p != '%')
        return 0;
    *value = "%";
    if (p[1] == '%')
        return 2;
    size_t n = batch_argument(sh, p + 1, value);
    if (n > 0)
        return n + 1;
    const char *end = strchr(p + 1, '%');
    *value = end ? value_of(sh, p + 1, (size_t)(end - p) - 1) : "";
    if (!*value)
        *value = "";
    return end ? (size_t)(end - p) + 1 : 1;
}

/* One pass over the text that replaces variables between two characters `sign`. */
static char *expand_by(struct shell *sh, const char *text, char sign)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, "");
    for (const char *p = text; *p && b.len <= WINDOWS_LONGEST;) {
        const char *value = NULL;
        size_t special = sign == '%' ? batch_special(sh, p, &value) : 0;
        if (special > 0) {
            strbuf_puts(&b, value);
            p += special;
            continue;
        }
        const char *end = *p == sign ? strchr(p + 1, sign) : NULL;
        value = end && end > p + 1 ? value_of(sh, p + 1, (size_t)(end - p) - 1) : NULL;
        if (value) {
            strbuf_puts(&b, value);
            p = end + 1;
        } else {
            strbuf_putc(&b, *p++);
        }
    }
    char *out = b.len > WINDOWS_LONGEST ? NULL : arena_strndup(sh->arena, b.s, b.len);
    strbuf_free(&b);
    return out;
}

char *expand(struct shell *sh, const char *text)
{
    return expand_by(sh, text, '%');
}

/* Replaces the variables of for: %a, and %~a without quotes. */
static char *put_loops(struct shell *sh, const char *text)
{
    struct strbuf b = STRBUF_INIT;
    strbuf_puts(&b, "");
    for (const char *p = text; *p && b.len <= WINDOWS_LONGEST;) {
        bool bare = *p == '%' && p[1] == '~';
        const struct loop_variable *v = *p == '%' ? loop_named(sh, p[bare ? 2 : 1]) : NULL;
        if (v)
            strbuf_puts(&b, bare ? unquote(sh->arena, v->value) : v->value);
        else
            strbuf_putc(&b, *p);
        p += v ? bare ? 3 : 2 : 1;
    }
    char *out = b.len > WINDOWS_LONGEST ? NULL : arena_strndup(sh->arena, b.s, b.len);
    strbuf_free(&b);
    return out;
}

char *expand_late(struct shell *sh, const char *text)
{
    char *out = sh->loops ? put_loops(sh, text) : arena_strdup(sh->arena, text);
    return out && sh->delayed ? expand_by(sh, out, '!') : out;
}
