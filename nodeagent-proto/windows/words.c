/* SPDX-License-Identifier: MIT
 *
 * Words of command lines: by the rules of Windows programs for their arguments, and by the rules of
 * cmd for its command.
 */
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent-proto/windows/windows_priv.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int same_name(const char *a, const char *b)
{
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
        a++;
        b++;
    }
    return tolower((unsigned char)*a) - tolower((unsigned char)*b);
}

char *unquote(struct arena *a, const char *text)
{
    char *out = arena_alloc(a, strlen(text) + 1), *to = out;
    for (; *text; text++)
        if (*text != '"')
            *to++ = *text;
    return out;
}

/* A backslash is an ordinary character unless a quote follows: 2n backslashes before a quote are n,
 * and the quote begins or ends quotes; 2n + 1 are n and a literal quote. "" in quotes is a literal
 * quote. */
static const char *one_word(const char *p, char *to)
{
    bool quoted = false;
    while (*p && (quoted || !is_blank(*p))) {
        size_t n = strspn(p, "\\");
        if (p[n] != '"') {
            memset(to, '\\', n);
            to += n;
            p += n;
            if (*p && (quoted || !is_blank(*p)) && *p != '\\')
                *to++ = *p++;
            continue;
        }
        memset(to, '\\', n / 2);
        to += n / 2;
        p += n + 1;
        if (n % 2 == 1 || (quoted && *p == '"')) {
            *to++ = '"';
            p += n % 2 == 0; /* "" within quotes is one quotation mark */
        } else {
            quoted = !quoted;
        }
    }
    *to = '\0';
    return p;
}

char **words_split(struct arena *a, const char *text)
{
    size_t size = strlen(text), n = 0, most = (size + 1) / 2;
    most = most < WINDOWS_WORDS ? most : WINDOWS_WORDS;
    char **words = arena_alloc(a, (most + 1) * sizeof *words);
    char *word = arena_alloc(a, size + 1); /* no word is longer than its text */
    for (;;) {
        while (is_blank(*text))
            text++;
        if (!*text || n == most)
            return words;
        text = one_word(text, word);
        words[n++] = word;
        word += strlen(word) + 1;
    }
}

char *words_first(struct arena *a, const char *text, const char **rest)
{
    while (is_blank(*text))
        text++;
    const char *end = text;
    for (bool quoted = false; *end && (quoted || !is_blank(*end)); end++)
        quoted ^= *end == '"';
    *rest = end;
    return unquote(a, arena_strndup(a, text, (size_t)(end - text)));
}

/* Whether the program's name, without folder and ".exe", is cmd. */
static bool is_cmd(const char *word)
{
    const char *slash = strrchr(word, '\\');
    const char *name = slash ? slash + 1 : word;
    return same_name(name, "cmd") == 0 || same_name(name, "cmd.exe") == 0;
}

/* Whether cmd keeps the quotes of its command: it does for `"PROGRAM WITH SPACES"` without special
 * characters. Otherwise cmd removes the first and the last quote. */
static bool quotes_stay(struct arena *a, const char *command, const char *last)
{
    const char *second = strchr(command + 1, '"');
    if (second != last || strpbrk(command, "&<>()@^|"))
        return false;
    char *name = arena_strndup(a, command + 1, (size_t)(last - command) - 1);
    if (!strpbrk(name, " \t"))
        return false;
    for (char *p = name; *p; p++)
        if (*p == '\\')
            *p = '/';
    return access(name, F_OK) == 0;
}

static const char *bare_command(struct arena *a, const char *command, bool always)
{
    const char *last = strrchr(command, '"');
    if (*command != '"' || last == command || (!always && quotes_stay(a, command, last)))
        return command;
    return arena_concat(a, arena_strndup(a, command + 1, (size_t)(last - command) - 1), last + 1);
}

bool cmd_line_read(struct arena *a, const char *line, struct cmd_line *out)
{
    const char *p;
    bool always = false;
    *out = (struct cmd_line){0};
    if (!is_cmd(words_first(a, line, &p)))
        return false;
    for (;;) {
        while (is_blank(*p) || *p == ',' || *p == ';' || *p == '=')
            p++;
        if (*p != '/' || !p[1])
            return true;
        char c = (char)tolower((unsigned char)p[1]);
        if (c == 'c' || c == 'k' || c == 'r') {
            for (p += 2; is_blank(*p);)
                p++;
            out->command = bare_command(a, p, always);
            return true;
        }
        always |= c == 's';
        const char *end = p + 1 + strcspn(p + 1, " \t/");
        if (c == 'v')
            out->delayed = !strstr(arena_lower(a, arena_strndup(a, p, (size_t)(end - p))), "off");
        p = end;
    }
}
